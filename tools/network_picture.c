#include "network_picture.h"

#include <math.h>

/* Pixels. A cluster is a circle; between two of them there is room for the text about their links. */
enum { RADIUS = 84, LARGE_RADIUS = 120, BETWEEN = 130, MARGIN = 56, DOT = 6, LEGEND = 40, LEAST_WIDTH = 480 };

/* With more hosts in a cluster only its links on the best ring are drawn, and hosts have names only under the pointer. From CROWD
 * on their links are thin. */
enum { MOST_HOSTS = 12, CROWD = 6 };

/* Of the slowest links and of the fastest ones, and how wide these are. */
static const double SLOW[] = {0xd5, 0x5e, 0x00}, FAST[] = {0x00, 0x72, 0xb2}, NARROW = 2, WIDE = 4.5;

/* Bandwidths that differ less are drawn alike. */
#define ALIKE 1.5

typedef struct picture {
    const dome_network *network;
    GString *svg;
    int clusters, *cluster, *ring, *size; /* size: hosts by cluster */
    double *x, *y;                        /* by host */
    double *cx, *cy;                      /* by cluster */
    double radius;                        /* of a cluster */
    double width, height;
    double slowest, fastest; /* bytes per second */
} picture;

char *dome__latency_text(double seconds)
{
    return seconds < 1e-3 ? g_strdup_printf("%.3g us", seconds * 1e6)
           : seconds < 1  ? g_strdup_printf("%.3g ms", seconds * 1e3)
                          : g_strdup_printf("%.3g s", seconds);
}

char *dome__speed_text(double speed)
{
    return speed < 1e6   ? g_strdup_printf("%.3g kB/s", speed / 1e3)
           : speed < 1e9 ? g_strdup_printf("%.3g MB/s", speed / 1e6)
                         : g_strdup_printf("%.3g GB/s", speed / 1e9);
}

const char *dome__sharing_text(dome_sharing sharing)
{
    static const char *const texts[] = {
        [DOME_SHARED] = "shared", [DOME_SWITCHED] = "switched", [DOME_SHARING_UNDECIDED] = "cannot tell"};
    return texts[sharing];
}

/* ---- where things are ---- */

static double angle_of(int place, int places)
{
    return 2 * G_PI * place / places - G_PI / 2;
}

/* The hosts of each cluster on a circle, the clusters on a large one, both in the order of the best ring. */
static void arrange(picture *p)
{
    int n = p->network->hosts, next = 0, k = p->clusters, *place = g_new0(int, k + 1), *order = g_new(int, k + 1);
    p->radius = k <= 2 ? LARGE_RADIUS : RADIUS;
    double across = k > 1 ? (p->radius + BETWEEN / 2.0) / sin(G_PI / k) : 0, up = k > 2 ? across : 0;
    p->width = MAX(2 * (across + p->radius + MARGIN), LEAST_WIDTH);
    p->height = 2 * (up + p->radius + MARGIN) + LEGEND;
    for (int c = 0; c < k; c++)
        order[c] = -1;
    for (int i = 0; i < n; i++) {
        int c = p->cluster[p->ring[i]];
        order[c] = order[c] < 0 ? next++ : order[c];
        p->size[c]++;
    }
    for (int c = 0; c < k; c++) {
        double angle = angle_of(order[c], k) - (k == 2 ? G_PI / 2 : 0);
        p->cx[c] = p->width / 2 + across * cos(angle);
        p->cy[c] = (p->height - LEGEND) / 2 + up * sin(angle);
    }
    for (int i = 0; i < n; i++) {
        int host = p->ring[i], c = p->cluster[host];
        double angle = angle_of(place[c]++, p->size[c]), r = p->size[c] > 1 ? p->radius * 0.54 : 0;
        p->x[host] = p->cx[c] + r * cos(angle);
        p->y[host] = p->cy[c] + r * sin(angle);
    }
    g_free(order);
    g_free(place);
}

/* ---- links ---- */

/* 0: as slow as the slowest link; 1: as fast as the fastest. */
static double speed_of(const picture *p, double bandwidth)
{
    if (p->fastest < ALIKE * p->slowest)
        return 1;
    return CLAMP(log(bandwidth / p->slowest) / log(p->fastest / p->slowest), 0, 1);
}

/* thin: among many lines. */
static void draw_line(picture *p, double x1, double y1, double x2, double y2, double bandwidth, bool thin)
{
    double speed = speed_of(p, bandwidth);
    int colour[3];
    for (int i = 0; i < 3; i++)
        colour[i] = (int)(SLOW[i] + speed * (FAST[i] - SLOW[i]));
    g_string_append_printf(p->svg,
                           "<line x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f' stroke='#%02x%02x%02x' stroke-width='%.1f' "
                           "stroke-linecap='round'/>\n",
                           x1, y1, x2, y2, colour[0], colour[1], colour[2], (NARROW + speed * (WIDE - NARROW)) / (thin ? 3 : 1));
}

static void draw_text(picture *p, double x, double y, const char *class, const char *text)
{
    char *escaped = g_markup_escape_text(text, -1);
    g_string_append_printf(p->svg, "<text x='%.1f' y='%.1f' class='%s'>%s</text>\n", x, y, class, escaped);
    g_free(escaped);
}

/* Latency, bandwidth, and whether links are shared, on two lines around y. */
static void draw_medians(picture *p, double x, double y, int a, int b)
{
    const dome_network *network = p->network;
    double latency = dome__network_median(network, network->latency, p->cluster, a, b);
    double bandwidth = dome__network_median(network, network->bandwidth, p->cluster, a, b);
    const char *sharing = dome__sharing_text(dome__network_sharing(network, p->cluster, a, b));
    if (!(bandwidth > 0))
        return;
    char *time = dome__latency_text(latency), *speed = dome__speed_text(bandwidth);
    char *line = g_strdup_printf("%s%s%s", time, sharing ? ", " : "", sharing ? sharing : "");
    draw_text(p, x, y - 4, "label", speed);
    draw_text(p, x, y + 12, "label soft", line);
    g_free(line);
    g_free(speed);
    g_free(time);
}

static bool on_ring(const picture *p, int a, int b)
{
    int n = p->network->hosts;
    for (int i = 0; i < n; i++) {
        int x = p->ring[i], y = p->ring[(i + 1) % n];
        if ((x == a && y == b) || (x == b && y == a))
            return true;
    }
    return false;
}

static void draw_links_within(picture *p)
{
    int n = p->network->hosts;
    for (int a = 0; a < n; a++)
        for (int b = a + 1; b < n; b++) {
            double bandwidth = p->network->bandwidth[a * n + b];
            int c = p->cluster[a];
            if (c == p->cluster[b] && bandwidth > 0 && (p->size[c] <= MOST_HOSTS || on_ring(p, a, b)))
                draw_line(p, p->x[a], p->y[a], p->x[b], p->y[b], bandwidth, p->size[c] > CROWD);
        }
}

/* One line for all links between two clusters. */
static void draw_links_between(picture *p)
{
    for (int a = 0; a < p->clusters; a++)
        for (int b = a + 1; b < p->clusters; b++) {
            double bandwidth = dome__network_median(p->network, p->network->bandwidth, p->cluster, a, b);
            double dx = p->cx[b] - p->cx[a], dy = p->cy[b] - p->cy[a], length = hypot(dx, dy);
            if (!(bandwidth > 0) || !(length > 0))
                continue;
            dx /= length;
            dy /= length;
            double x1 = p->cx[a] + dx * p->radius, y1 = p->cy[a] + dy * p->radius;
            double x2 = p->cx[b] - dx * p->radius, y2 = p->cy[b] - dy * p->radius;
            draw_line(p, x1, y1, x2, y2, bandwidth, false);
            if (p->clusters <= 3) /* else lines cross where the text would be */
                draw_medians(p, (x1 + x2) / 2, (y1 + y2) / 2 + (fabs(dy) < 0.1 ? -16 : 0), a, b);
        }
}

static void draw_host(picture *p, int host)
{
    int c = p->cluster[host];
    double dx = p->x[host] - p->cx[c], dy = p->y[host] - p->cy[c], length = hypot(dx, dy);
    char *name = g_markup_escape_text(p->network->names[host], -1);
    g_string_append_printf(p->svg, "<circle cx='%.1f' cy='%.1f' r='%d' class='host'><title>%s</title></circle>\n", p->x[host],
                           p->y[host], DOT, name);
    if (p->size[c] <= MOST_HOSTS)
        draw_text(p, p->x[host] + (length > 0 ? 32 * dx / length : 0), p->y[host] + (length > 0 ? 17 * dy / length : 17) + 4,
                  "name", p->network->names[host]);
    g_free(name);
}

static void draw_clusters(picture *p)
{
    for (int c = 0; c < p->clusters; c++)
        g_string_append_printf(p->svg, "<circle cx='%.1f' cy='%.1f' r='%.1f' class='cluster'/>\n", p->cx[c], p->cy[c], p->radius);
    draw_links_within(p);
    draw_links_between(p);
    for (int i = 0; i < p->network->hosts; i++)
        draw_host(p, i);
    for (int c = 0; c < p->clusters; c++) {
        bool above = p->cy[c] < (p->height - LEGEND) / 2 - 1;
        if (p->size[c] > 1)
            draw_medians(p, p->cx[c], p->cy[c] + (above ? -p->radius - 22 : p->radius + 20), c, c);
        if (p->size[c] > MOST_HOSTS) {
            char *text = g_strdup_printf("%d hosts", p->size[c]);
            draw_text(p, p->cx[c], p->cy[c] + 4, "name", text);
            g_free(text);
        }
    }
}

static void draw_legend(picture *p)
{
    double x = p->width / 2, y = p->height - 16;
    if (!(p->fastest > 0))
        return;
    char *slow = dome__speed_text(p->slowest), *fast = dome__speed_text(p->fastest);
    bool alike = p->fastest < ALIKE * p->slowest;
    draw_line(p, x - 110, y - 4, x - 70, y - 4, p->fastest, false);
    draw_text(p, x - 62, y, "legend", fast);
    if (!alike) {
        draw_line(p, x + 30, y - 4, x + 70, y - 4, p->slowest, false);
        draw_text(p, x + 78, y, "legend", slow);
    }
    g_free(fast);
    g_free(slow);
}

static void find_speeds(picture *p)
{
    int n = p->network->hosts;
    for (int i = 0; i < n * n; i++) {
        double bandwidth = p->network->bandwidth[i];
        if (!(bandwidth > 0))
            continue;
        p->fastest = MAX(p->fastest, bandwidth);
        p->slowest = p->slowest > 0 ? MIN(p->slowest, bandwidth) : bandwidth;
    }
}

char *dome__network_picture(const dome_network *network)
{
    int n = network->hosts + 1;
    picture p = {.network = network,
                 .svg = g_string_new(NULL),
                 .cluster = g_new0(int, n),
                 .ring = g_new0(int, n),
                 .size = g_new0(int, n),
                 .x = g_new0(double, n),
                 .y = g_new0(double, n),
                 .cx = g_new0(double, n),
                 .cy = g_new0(double, n)};
    p.clusters = dome__network_clusters(network, p.cluster);
    dome__network_tour(network, p.ring);
    find_speeds(&p);
    arrange(&p);
    g_string_append_printf(
        p.svg,
        "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %.0f %.0f' width='%.0f' height='%.0f' role='img'>\n"
        "<title>Network of %d host%s</title>\n"
        "<style>text{font:13px system-ui,'Liberation Sans',sans-serif;fill:#1d2125;text-anchor:middle}.name{font-weight:600}"
        ".label,.name{paint-order:stroke;stroke:#fcfcfb;stroke-width:4px;stroke-linejoin:round}"
        ".soft{fill:#5c656e}.legend{text-anchor:start}.back{fill:#fcfcfb}.cluster{fill:#8c8c8c;fill-opacity:.09;stroke:#8c8c8c;"
        "stroke-opacity:.5}.host{fill:#1d2125}@media(prefers-color-scheme:dark){text,.host{fill:#e6e9ec}.soft{fill:#a0a9b2}"
        ".back{fill:#15181b}.label,.name{stroke:#15181b}}</style>\n"
        "<rect class='back' width='%.0f' height='%.0f'/>\n",
        p.width, p.height, p.width, p.height, network->hosts, network->hosts == 1 ? "" : "s", p.width, p.height);
    draw_clusters(&p);
    draw_legend(&p);
    g_string_append(p.svg, "</svg>\n");
    void *const arrays[] = {p.cluster, p.ring, p.size, p.x, p.y, p.cx, p.cy};
    for (size_t i = 0; i < G_N_ELEMENTS(arrays); i++)
        g_free(arrays[i]);
    return g_string_free(p.svg, FALSE);
}
