/** The hooks of the policy that is in force. */
import type { HookScheme } from './hook-schemes.ts'
import type { Challenge, ValueSource } from './presets.ts'
import { DEFAULT_TOKEN_HEADER, type Proof } from './schemes.ts'

/** A hook as the policy defines it: docs/hooks.md. It has one of the four actions. */
export interface HookDefinition {
  scheme: HookScheme
  /** The variables with its secrets. */
  secretEnv: readonly string[]
  /** For the scheme `token`: the header with the secret. */
  header?: string
  /** For the scheme `token`: what identifies an event, and the headers that workers receive. */
  id?: ValueSource
  headers?: readonly string[]
  /** The events that it wants, by header or JSON Pointer; all must match. Default: every event. */
  when?: Readonly<Record<string, readonly string[]>>
  challenge?: Challenge
  /** The variables with the token that the challenge `hub` presents. */
  verifyTokenEnv?: readonly string[]
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
  verifyTokens: readonly string[]
  /** Under which its sender knows it; null if that is the URL of the request. */
  url: string | null
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

/** `publicUrl`: the address of the service for senders, null if it is that of their requests. */
export function createHooks(definitions: HookDefinitions, secrets: Secrets, publicUrl: string | null = null): Hooks {
  let current = definitions
  return {
    find(name) {
      const definition = Object.hasOwn(current, name) ? current[name] : undefined
      return definition === undefined ? null : toHook(name, definition, secrets, publicUrl)
    },
    replace(definitions) {
      current = definitions
    },
  }
}

/** Leaves out variables that are not set: an empty string must not count as a secret. */
export function toHook(name: string, definition: HookDefinition, secrets: Secrets, publicUrl: string | null): Hook {
  const { header = DEFAULT_TOKEN_HEADER, secretEnv, verifyTokenEnv = [] } = definition
  const valuesOf = (variables: readonly string[]) =>
    variables.flatMap((variable) => (Object.hasOwn(secrets, variable) && secrets[variable]) || [])
  const url = publicUrl === null ? null : `${publicUrl}/hooks/${name}`
  return { ...definition, name, header, url, secrets: valuesOf(secretEnv), verifyTokens: valuesOf(verifyTokenEnv) }
}
