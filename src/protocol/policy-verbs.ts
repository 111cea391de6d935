/** What a rule of a policy can allow. */
export const POLICY_VERBS = [
  'start',
  'read',
  'list',
  'signal',
  'query',
  'update',
  'stop',
  'terminate',
  'pause',
  'reset',
  'link',
  'metrics',
] as const

export type PolicyVerb = (typeof POLICY_VERBS)[number]

/** The verbs that can be narrowed to handlers: `signal:approve`. */
export const POLICY_HANDLER_VERBS = ['signal', 'query', 'update'] as const
