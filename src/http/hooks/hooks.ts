/** The hooks of the policy that is in force. */
import type { HookScheme } from '../../protocol/hook-schemes.ts'
import { DEFAULT_TOKEN_HEADER, type Proof } from './schemes.ts'

/** A hook as the policy defines it: docs/hooks.md. It has one of the four actions. */
export interface HookDefinition {
  scheme: HookScheme
  /** The variables with its secrets. */
  secretEnv: readonly string[]
  /** For the scheme `token`: the header with the secret. */
  header?: string
  /** What the workflow or the handler gets, or the activity returns: the event with its headers, or its body alone. */
  argument: 'event' | 'body'
  start?: StartOfHook
  signal?: { workflowId: string; name: string }
  signalWithStart?: { start: StartOfHook; signal: { name: string } }
  /** Both are templates, with placeholders for values of the body. */
  complete?: { workflowId: string; activityId: string }
}

export interface StartOfHook {
  workflowName: string
  /** With placeholders for values of the body. Default: an id of the event. */
  workflowId?: string
  catalog?: string
}

export interface Hook extends HookDefinition, Proof {
  name: string
  header: string
}

export interface Hooks {
  /** Null if there is no hook of this name. */
  find(name: string): Hook | null
  /** Replaces the hooks, for all later requests. */
  replace(definitions: HookDefinitions): void
}

export type HookDefinitions = Readonly<Record<string, HookDefinition>>

/** The value of each variable that a hook can name. */
type Secrets = Readonly<Record<string, string | undefined>>

export function createHooks(definitions: HookDefinitions, secrets: Secrets): Hooks {
  let current = definitions
  return {
    find(name) {
      const definition = Object.hasOwn(current, name) ? current[name] : undefined
      return definition === undefined ? null : toHook(name, definition, secrets)
    },
    replace(definitions) {
      current = definitions
    },
  }
}

/** Leaves out variables that are not set: an empty string must not count as a secret. */
export function toHook(name: string, definition: HookDefinition, secrets: Secrets): Hook {
  const { header = DEFAULT_TOKEN_HEADER, secretEnv } = definition
  const ofHook = secretEnv.flatMap((variable) => (Object.hasOwn(secrets, variable) ? [secrets[variable] ?? ''] : []))
  return { ...definition, name, header, secrets: ofHook.filter((secret) => secret !== '') }
}
