/** Memo fields that this service reads; all others are the user's own. */
export const MEMO_KEYS = ['workflowNames', 'hash', 'traces', 'trace'] as const
