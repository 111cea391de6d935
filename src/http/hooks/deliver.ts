/** What a hook does with an event. The event decides its id and its argument, and nothing else. */
import { encodeClaim, withClaims } from '../../domain/access/patterns.ts'
import type { Call } from '../../domain/model/call.ts'
import type { Caller } from '../../domain/model/caller.ts'
import { hasErrorName, ServiceError } from '../../domain/model/errors.ts'
import type { Workflows } from '../../domain/model/workflows.ts'
import { isObject } from '../../lib/is-object.ts'
import { newId } from '../../lib/new-id.ts'
import { workflowIdIssue } from '../../protocol/names.ts'
import type { Hook } from './hooks.ts'

export interface HookEvent {
  /** Null if the sender does not say which events are the same. */
  id: string | null
  body: unknown
  headers: Readonly<Record<string, string>>
}

/** The run that got the event; null for an event that came before. */
export type Delivered = { workflowId: string; runId: string | null } | null

type HookVerbs = Pick<Workflows, 'start' | 'signal' | 'signalWithStart'>

/** What the hook does with this event. */
export interface HookStep {
  /** May do this and nothing else. */
  caller: Caller
  send(workflows: HookVerbs, call: Call): Promise<Delivered>
}

/** Throws a `ValidationError` if the body has no values for the workflow id. */
export function stepOf(hook: Hook, event: HookEvent, defaultCatalog: string): HookStep {
  const { name, argument, start, signal, signalWithStart } = hook
  const { workflowId: template } = start ?? signal ?? signalWithStart?.start ?? {}
  const workflowId = workflowIdOf(name, template, event)
  const argumentOf = { event: { headers: event.headers, body: event.body }, body: event.body }
  const args = { args: [argumentOf[argument]], argumentPointer: '' }
  const key = event.id === null ? {} : { idempotencyKey: event.id }
  const callerWith = (can: string[], catalog: string): Caller => ({
    id: `hook:${name}`,
    grants: [{ rule: `hook:${name}`, can, ids: [workflowId], catalogs: [catalog], options: ['workflowIdReusePolicy'] }],
    limits: null,
  })

  if (start !== undefined) {
    const { workflowName, catalog = defaultCatalog } = start
    const options = { workflowIdReusePolicy: 'reject-duplicate' } as const
    return {
      caller: callerWith(['start'], catalog),
      send: (workflows, call) => workflows.start({ workflowName, workflowId, catalog, ...args, options }, call),
    }
  }
  if (signal !== undefined) {
    const message = { name: signal.name, ...args }
    return {
      caller: callerWith([`signal:${signal.name}`], defaultCatalog),
      send: (workflows, call) => workflows.signal({ ref: { workflowId }, message, ...key }, call),
    }
  }
  if (signalWithStart === undefined) throw new TypeError(`The hook ${name} has no action`)
  const { workflowName, catalog = defaultCatalog } = signalWithStart.start
  const message = { name: signalWithStart.signal.name, ...args }
  const started = { workflowName, workflowId, catalog, args: [], argumentPointer: '', ...key }
  return {
    caller: callerWith(['start', `signal:${message.name}`], catalog),
    async send(workflows, call) {
      const run = await workflows.signalWithStart({ start: started, signal: message }, call)
      return run.isRepeated ? null : run
    },
  }
}

/** Sends the event. Senders learn neither what else could be started, nor of another run. */
export async function deliver({ send }: Pick<HookStep, 'send'>, workflows: HookVerbs, call: Call): Promise<Delivered> {
  try {
    return await send(workflows, call)
  } catch (error) {
    // A sender may change what it says about an event that it sends again, such as its timestamp.
    if (hasErrorName(error, 'WorkflowAlreadyStartedError', 'IdempotencyKeyReusedError')) return null
    if (!hasErrorName(error, 'UnsupportedWorkflowError')) throw error
    const { available: _, ...details } = error.details
    throw new ServiceError(error.error, error.message, { cause: error.cause, details })
  }
}

function workflowIdOf(name: string, template: string | undefined, { id, body }: HookEvent): string {
  if (template === undefined) return checked(`hook:${name}:${encodeClaim(id ?? newId())}`)
  const filled = withClaims(template, isObject(body) ? body : {})
  if (filled !== null) return checked(filled)
  const message = `The workflow id ${template} needs values of the body that are strings or integers, and not empty`
  throw new ServiceError('ValidationError', message)
}

/** The values can be longer than an id may be. */
function checked(workflowId: string): string {
  const issue = workflowIdIssue(workflowId)
  if (issue === null) return workflowId
  throw new ServiceError('ValidationError', `The workflow id of the event ${issue}`)
}
