/* Cursors of libclang: names, places, and whether they are the program's own. */
#include "front/front.h"

char *cursor_name(CXCursor c)
{
    CXString s = clang_getCursorSpelling(c);
    char *name = g_strdup(clang_getCString(s) ? clang_getCString(s) : "");
    clang_disposeString(s);
    return name;
}

unsigned cursor_offset(CXCursor c)
{
    unsigned offset = 0;
    clang_getFileLocation(clang_getCursorLocation(c), NULL, NULL, NULL, &offset);
    return offset;
}

unsigned cursor_begin(CXCursor c)
{
    unsigned offset = 0;
    clang_getFileLocation(clang_getRangeStart(clang_getCursorExtent(c)), NULL, NULL, NULL, &offset);
    return offset;
}

bool cursor_is_null(CXCursor c)
{
    return clang_Cursor_isNull(c) || clang_isInvalid(c.kind);
}

/* Headers that are as the program's own files are. */
static GHashTable *with_variables;

static char *file_of(CXCursor c)
{
    CXString name;
    clang_getPresumedLocation(clang_getCursorLocation(c), &name, NULL, NULL);
    char *file = g_strdup(clang_getCString(name) ? clang_getCString(name) : "");
    clang_disposeString(name);
    return file;
}

bool cursor_in_system_header(CXCursor c)
{
    if (!clang_Location_isInSystemHeader(clang_getCursorLocation(c)))
        return false;
    char *file = with_variables ? file_of(c) : NULL;
    const bool own = file && g_hash_table_contains(with_variables, file);
    g_free(file);
    return !own;
}

/* A header of the system that defines variables, also in its functions, is a library of its own, whose state must be saved. */
enum CXChildVisitResult cursor_find_variables(CXCursor c, CXCursor parent, CXClientData data)
{
    (void)parent;
    (void)data;
    if (!clang_Location_isInSystemHeader(clang_getCursorLocation(c)))
        return CXChildVisit_Continue;
    const enum CX_StorageClass class = clang_Cursor_getStorageClass(c);
    CXType type = clang_getCursorType(c);
    if (c.kind == CXCursor_VarDecl && clang_Cursor_hasVarDeclGlobalStorage(c) && class != CX_SC_Extern &&
        !clang_isConstQualifiedType(clang_getCanonicalType(ctype_element(type, NULL)))) {
        if (!with_variables)
            with_variables = g_hash_table_new(g_str_hash, g_str_equal);
        g_hash_table_add(with_variables, file_of(c));
    }
    const bool inside = c.kind == CXCursor_FunctionDecl ? clang_isCursorDefinition(c) : clang_isStatement(c.kind);
    return inside ? CXChildVisit_Recurse : CXChildVisit_Continue;
}

char *cursor_key(unit *u, CXCursor decl)
{
    char *name = cursor_name(decl), *key = name;
    if (clang_getCursorLinkage(decl) == CXLinkage_Internal) {
        key = g_strdup_printf("%s:%s", u->name, name);
        g_free(name);
    }
    return key;
}

/* Declared as one that returns a char: configure scripts look so whether a function is there. None of the C library's does. */
bool cursor_is_looked_for(CXCursor d)
{
    return clang_getCanonicalType(clang_getCursorResultType(d)).kind == CXType_Char_S ||
           clang_getCanonicalType(clang_getCursorResultType(d)).kind == CXType_Char_U;
}
