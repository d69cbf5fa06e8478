/* A land-use model. A landscape of cells has towns, roads and owners. Each month plants grow in every cell, by light, warmth and
 * the water of the soil; each year they are harvested, goods are sold, and owners decide by what they expect to earn which of
 * their cells they use in another way. One unit is a hectare, a tonne, or an amount of money.
 *
 * The model uses no function of the mathematical library but sqrt, so that its results are the same on every machine. */
#ifndef LAND_H
#define LAND_H

#include <stdbool.h>
#include <stdint.h>

enum use { USE_WILD, USE_FOREST, USE_PASTURE, USE_CROP, USE_TOWN, USES };
enum good { GOOD_TIMBER, GOOD_MEAT, GOOD_GRAIN, GOOD_HOUSING, GOODS };
enum crop { CROP_WHEAT, CROP_MAIZE, CROP_BEANS, CROP_FALLOW, CROPS };
enum owner_kind { OWNER_FARMER, OWNER_FORESTER, OWNER_INVESTOR, OWNER_STATE, OWNER_KINDS };
enum soil_kind { SOIL_SAND, SOIL_LOAM, SOIL_CLAY, SOIL_KINDS };
enum { MONTHS = 12, LAYERS = 4, NEIGHBOURS = 8 };

struct soil {
    enum soil_kind kind;
    double depth;    /* m */
    double water;    /* mm */
    double nitrogen; /* kg */
};

struct plants {
    double leaf_area; /* m2 of leaves over a m2 of ground */
    double biomass;   /* t */
    double grown;     /* t, this year */
    double thirst;    /* 0 to 1: the part of the water they wanted and did not get this year */
    enum crop crop;
};

struct parcel;
struct cell {
    int column, row;
    enum use use;
    int years; /* since it is used so */
    double elevation, slope;
    double sun; /* over that of flat land */
    double snow;
    double animals;
    double road, town; /* cells to the next road, cost of the way to the next town */
    bool protected;
    struct soil soil;
    struct plants plants;
    struct parcel *parcel;
};

struct grid {
    int columns, rows;
    struct cell *cells;
};

struct owner;
struct parcel {
    struct parcel *next; /* of the owner */
    struct owner *owner;
    struct cell **cells;
    int count, room;
};

struct owner {
    struct owner *next;
    enum owner_kind kind;
    int number, age;
    double money, patience, caution;
    struct parcel *parcels;
};

struct month {
    double temperature, rain, light; /* degrees, mm, 0 to 1 of the brightest */
};

struct climate {
    double warming, wetness;
    struct month months[MONTHS];
};

struct market {
    double price[GOODS], supply[GOODS], demand[GOODS];
};

struct town {
    struct town *next;
    struct cell *centre;
    double people;
    int houses; /* cells */
};

struct policy {
    double subsidy[USES], tax;
    double steepest_field;
};

struct event {
    struct event *earlier;
    int year;
    const struct cell *cell;
    enum use from, to;
};

struct land {
    struct grid *grid;
    struct climate climate;
    struct market market;
    struct policy policy;
    struct owner *owners;
    struct town *towns;
    struct event *events;
    int year;
};

/* A way in which an owner can change a cell. */
struct rule {
    const char *name;
    enum use from, to;
    bool (*allowed)(const struct land *land, const struct cell *cell);
    double (*cost)(const struct land *land, const struct cell *cell);
};

/* numbers.c */
void random_begin(uint64_t seed);
uint32_t random_bits(void);
double random_uniform(void);
int random_below(int most);
double random_between(double low, double high);
double random_normal(void);
bool random_chance(double probability);
double smaller(double a, double b);
double larger(double a, double b);
double limited(double value, double low, double high);
double square(double value);
double mixed(double a, double b, double part);
double exponential(double x);

/* grid.c */
struct grid *grid_new(int columns, int rows);
void grid_free(struct grid *grid);
int grid_count(const struct grid *grid);
bool grid_inside(const struct grid *grid, int column, int row);
struct cell *grid_at(const struct grid *grid, int column, int row);
struct cell *grid_cell(const struct grid *grid, int index);
int grid_index(const struct grid *grid, const struct cell *cell);
struct cell *grid_neighbour(const struct grid *grid, const struct cell *cell, int direction);
int grid_neighbours_of_use(const struct grid *grid, const struct cell *cell, enum use use);
double grid_distance(const struct cell *a, const struct cell *b);

/* terrain.c */
void terrain_make(struct grid *grid);
bool terrain_is_steep(const struct cell *cell);
bool terrain_is_high(const struct cell *cell);
double terrain_effort(const struct cell *cell);

/* soil.c */
void soil_make(struct cell *cell);
double soil_capacity(const struct soil *soil);
double soil_available(const struct soil *soil);
double soil_take(struct soil *soil, double water);
double soil_add(struct soil *soil, double water);
double soil_fertility(const struct soil *soil);
void soil_use_nitrogen(struct soil *soil, double grown);
void soil_feed(struct soil *soil, double kilograms);
void soil_rest(struct soil *soil);

/* climate.c */
void climate_begin(struct climate *climate);
void climate_next_year(struct climate *climate);
double climate_temperature(const struct month *month, const struct cell *cell);
double climate_light(const struct month *month, const struct cell *cell);
bool climate_freezes(const struct month *month, const struct cell *cell);
double climate_mean_temperature(const struct climate *climate);
double climate_year_rain(const struct climate *climate);

/* water.c */
double water_month(struct cell *cell, const struct month *month);

/* leaf.c */
double leaf_assimilation(double light, double temperature, double water);
double leaf_respiration(double temperature);

/* canopy.c */
double canopy_shade(const struct plants *plants);
double canopy_month(const struct cell *cell, const struct month *month, double water);

/* growth.c */
void growth_begin(struct cell *cell);
void growth_month(struct cell *cell, const struct month *month);
void growth_new_year(struct cell *cell);

/* forest.c */
bool forest_is_ripe(const struct cell *cell);
double forest_harvest(struct cell *cell);
double forest_expected(const struct cell *cell);
void forest_plant(struct cell *cell);

/* farm.c */
void crop_choose(struct cell *cell);
double crop_harvest(struct cell *cell);
double crop_expected(const struct cell *cell);
double crop_work(const struct cell *cell);
double pasture_harvest(struct cell *cell);
double pasture_expected(const struct cell *cell);
void pasture_stock(struct cell *cell);

/* town.c */
struct town *town_new(struct town *next, struct cell *centre, double people);
void town_free_all(struct town *town);
void town_found(struct land *land, int count);
double town_wanted(const struct town *town);
void town_grow(struct land *land);
double town_people(const struct town *town);
struct town *town_nearest(const struct land *land, const struct cell *cell);

/* roads.c */
void roads_build(struct land *land);
void roads_measure(struct land *land);
double roads_haul(const struct cell *cell, double tonnes);

/* market.c */
void market_begin(struct market *market);
void market_clear(struct market *market);
void market_sell(struct market *market, enum good good, double amount);
void market_want(struct market *market, double people);
void market_settle(struct market *market);
enum good market_good_of(enum use use);
double market_value(const struct market *market, enum good good, double amount);
void harvest_year(struct land *land);

/* owner.c */
struct owner *owner_new(struct owner *next, int number, enum owner_kind kind);
void owner_free_all(struct owner *owner);
void owner_settle(struct land *land, int count);
void owner_pay(struct owner *owner, double money);
bool owner_can_pay(const struct owner *owner, double money);
void owner_grow_older(struct owner *owner);
int owner_cells(const struct owner *owner);
double owner_taste(const struct owner *owner, enum use use);
struct owner *owner_of(const struct cell *cell);

/* parcel.c */
struct parcel *parcel_new(struct owner *owner);
void parcel_free(struct parcel *parcel);
void parcel_add(struct parcel *parcel, struct cell *cell);
void parcel_remove(struct cell *cell);
int parcel_count_use(const struct parcel *parcel, enum use use);
void parcel_sell(struct parcel *parcel, struct owner *to);

/* rules.c */
const struct rule *rules_first(void);
const struct rule *rules_next(const struct rule *rule);
bool rule_applies(const struct rule *rule, const struct land *land, const struct cell *cell);

/* decide.c */
double decide_income(const struct land *land, const struct cell *cell, enum use use);
const struct rule *decide_best(const struct land *land, const struct cell *cell);
int decide_parcel(struct land *land, struct parcel *parcel);

/* policy.c */
void policy_begin(struct policy *policy);
void policy_protect(struct land *land);
double policy_subsidy(const struct policy *policy, const struct cell *cell, enum use use);
double policy_tax(const struct policy *policy, double income);
bool policy_forbids(const struct policy *policy, const struct cell *cell, enum use use);
void policy_adapt(struct land *land);

/* change.c */
void change_use(struct land *land, struct cell *cell, enum use to);
void change_free_events(struct event *event);
int change_count(const struct land *land, int year);
int change_count_to(const struct land *land, enum use use);

/* statistics.c */
int statistics_cells(const struct grid *grid, enum use use);
double statistics_biomass(const struct grid *grid);
double statistics_leaf_area(const struct grid *grid);
double statistics_money(const struct owner *owners);
int statistics_patches(const struct grid *grid, enum use use, int *largest);
uint64_t statistics_hash(const struct land *land);
int statistics_faults(const struct land *land);
void statistics_print(const struct land *land);

#endif
