#!/bin/bash
# What dome-cc writes into each file is what <dome/capture.h> declares: the same structs, numbers and functions.
set -u
cc=$DOME_BUILD_DIR/tools/dome-cc
[ -x "$cc" ] || { echo "skipped: there is no dome-cc"; exit 77; }
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
echo 'int main(void) { return 0; }' >empty.c
"$cc" --emit-source -o empty.i empty.c || exit 1
{
    echo '#include <dome/capture.h>'
    sed '1d; /^# .*"empty.c"/,$d' empty.i # the first line names the object's file
    for struct in type:name,kind,scalar,size,element,count,members,which,known,pack,unpack member:name,type,offset \
        global:name,address,type,count,flags code:name,address function:name,saved,memory,version,points,npoints,known \
        module:size,name,globals,nglobals,functions,nfunctions,codes,ncodes,types,ntypes; do
        name=${struct%%:*}
        echo "_Static_assert(sizeof(struct dome__cc_$name) == sizeof(dome_capture_$name), \"size of $name\");"
        for member in $(tr , ' ' <<<"${struct#*:}"); do
            echo "_Static_assert(offsetof(struct dome__cc_$name, $member) == offsetof(dome_capture_$name, $member), \"$name.$member\");"
        done
    done
    echo '_Static_assert(DOME_CAPTURE_CAPTURING == 4 && DOME_CAPTURE_RESUMING == 8 && DOME_CAPTURE_GLOBAL_CONSTANT == 1, "numbers");'
    echo '#include <stdio.h>'
    echo '#include <string.h>'
    echo 'int main(void) { int bad = 0;'
    for scalar in bool char schar uchar short ushort int uint long ulong llong ullong size ptrdiff float double fcomplex dcomplex pointer; do
        echo "{ struct dome__cc_type a = dome__cc_$scalar; dome_capture_type b = dome_capture_$scalar;"
        echo "  if (strcmp(a.name, b.name) || a.kind != (int)b.kind || a.scalar != (int)b.scalar || a.size != b.size) bad = !!printf(\"$scalar\\n\"); }"
    done
    echo 'return bad; }'
} >both.c
# declarations of one function under two names must have compatible types: said by -Wextra only if they had one name
sed -n 's/^extern .* \**\(dome__cc_[a-z]*\)(.*__asm__("\(dome_capture_[a-z]*\)").*/\1 \2/p' empty.i | while read -r ours theirs; do
    grep -q "\b$theirs(" "$DOME_SOURCE_DIR/include/dome/capture.h" || echo "FAILED: <dome/capture.h> has no $theirs (of $ours)"
done >missing
cat missing
cc -I"$DOME_SOURCE_DIR/include" -w both.c -o both || exit 1
./both && [ ! -s missing ] && echo "dome-cc and <dome/capture.h> agree"
