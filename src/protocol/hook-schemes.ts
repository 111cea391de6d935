/** How the sender of a webhook proves who it is: docs/hooks.md. */
export const HOOK_SCHEMES = ['standard', 'stripe', 'github', 'slack', 'token'] as const

export type HookScheme = (typeof HOOK_SCHEMES)[number]

/** Hooks can only read variables whose names begin with this. */
export const HOOK_SECRET_PREFIX = 'SERVICE_HOOK_'

/** Before the base64 of a secret of the scheme `standard`. */
export const BASE64_SECRET_PREFIX = 'whsec_'

/** What a hook does with an event. */
export type HookAction = (typeof HOOK_ACTIONS)[number]

export const HOOK_ACTIONS = ['start', 'signal', 'signalWithStart', 'complete'] as const

/** Whether a secret of the scheme `standard` can be decoded. A secret without the prefix is the string itself. */
export function isDecodable(secret: string): boolean {
  if (!secret.startsWith(BASE64_SECRET_PREFIX)) return true
  return /^(?:[\w+/-]{4})*(?:[\w+/-]{2,3}={0,2}|[\w+/-]{4})$/.test(secret.slice(BASE64_SECRET_PREFIX.length))
}
