/** What a hook can be: docs/hooks.md. */
import { PRESETS, type PresetName, type SignatureScheme } from './presets.ts'

/** How the sender of a webhook proves who it is. */
export type HookScheme = PresetName | 'token' | SignatureScheme

export const SCHEME_NAMES: readonly string[] = [...Object.keys(PRESETS), 'token']

/** Hooks can only read variables whose names begin with this. */
export const HOOK_SECRET_PREFIX = 'SERVICE_HOOK_'

/** Before the base64 of a secret of the scheme `standard`. */
export const BASE64_SECRET_PREFIX = 'whsec_'

/** What a hook does with an event. */
export type HookAction = (typeof HOOK_ACTIONS)[number]

export const HOOK_ACTIONS = ['start', 'signal', 'signalWithStart', 'complete'] as const
