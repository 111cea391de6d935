/**
 * Options of the engine that accept any number of requests a second. The default rates are those of the whole namespace, which
 * all tests share: by default it accepts 100 lists a second.
 */
export const ANY_RATE = { 'frontend.namespaceRPS': 1_000_000, 'frontend.namespaceRPS.visibility': 1_000_000 }
