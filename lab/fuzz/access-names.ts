/** What the requests of `access.ts` name. */
export const CATALOG = 'default'
export const IDS = ['u:ada:1', 'u:ada:2', 'u:adam:1', 'x'] as const
export const WORKFLOWS = ['order', 'admin'] as const
export const HANDLERS = ['approve', 'app', 'set'] as const
/** The activities of each run, by their ids, which are also their types. */
export const ACTIVITIES = ['approve', 'set'] as const
/** The signal, of no caller, after which a run continues as the other workflow. */
export const CONTINUE = 'continue-as-other'
