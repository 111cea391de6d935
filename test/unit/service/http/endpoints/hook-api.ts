import type { Caller } from '../../../../../src/shared/access/caller.ts'
import { createHooks, type HookDefinition, toHook } from '../../../../../src/shared/hooks/hooks.ts'
import { proofHeaders } from '../../../../../src/shared/hooks/schemes.ts'
import { type ApiOptions, makeApi } from '../api.ts'

const SECRETS = { SERVICE_HOOK_A: 's3cret', SERVICE_HOOK_VERIFY: 'verify-t0ken' }

export const JSON_TYPE = { 'Content-Type': 'application/json' }

export const FORM_TYPE = { 'Content-Type': 'application/x-www-form-urlencoded' }

interface Sent {
  verb: string
  command: unknown
  caller: Caller | undefined
}

type Definition = Omit<HookDefinition, 'secretEnv' | 'argument'> & Partial<HookDefinition>

/** An app with one hook, whose verbs record what they get. */
export function makeHookApi(definition: Definition, options: ApiOptions = {}) {
  const sent: Sent[] = []
  const record =
    <Result>(verb: string, result: Result) =>
    async (command: unknown, { caller }: { caller?: Caller }) => {
      sent.push({ verb, command, caller })
      return result
    }
  const run = { workflowId: 'w', runId: 'r' }
  const hook = { secretEnv: ['SERVICE_HOOK_A'], argument: 'event' as const, ...definition }
  const hooks = createHooks({ h: hook }, SECRETS)
  const api = makeApi({
    auth: { tokens: ['operator'] },
    hooks,
    ...options,
    workflows: {
      start: record('start', run),
      signal: record('signal', { ...run, runId: null, warnings: [] }),
      completeActivity: record('completeActivity', { ...run, activityId: 'a', isRepeated: false }),
      signalWithStart: record('signalWithStart', { ...run, started: true, warnings: [] }),
      ...options.workflows,
    },
  })
  /** Sends a body that the sender of the hook has signed. */
  async function send(body: string, headers: Record<string, string> = JSON_TYPE, id?: string) {
    const url = 'http://portico.test/hooks/h'
    const proof = toHook('h', hook, SECRETS, null)
    const signature = await proofHeaders(proof, { body: new TextEncoder().encode(body), url }, Date.now(), id)
    return api.call('POST', '/hooks/h', body, { ...headers, ...signature })
  }
  return { ...api, hooks, sent, send }
}

export const START = { workflowName: 'order', workflowId: 'order:{/id}' }

export async function answerOf(response: Response): Promise<[number, unknown]> {
  return [response.status, await response.json()]
}
