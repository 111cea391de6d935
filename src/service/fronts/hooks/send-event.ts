/** What a hook does with an event. The event supplies values for ids, and the argument. The policy defines the rest. */

import type { Caller } from '../../../shared/access/caller.ts'
import { encodeClaim, withClaims } from '../../../shared/access/patterns.ts'
import type { Hook } from '../../../shared/hooks/hooks.ts'
import { newId } from '../../../shared/lib/new-id.ts'
import { activityIdIssue, workflowIdIssue } from '../../../shared/wire/names.ts'
import type { Call } from '../../model/call.ts'
import { hasErrorName, originalError, ServiceError } from '../../model/errors.ts'
import type { Workflows } from '../../verbs.ts'

export interface HookEvent {
  /** The same when the sender sends the event again. Null for a scheme that has no such id. */
  id: string | null
  body: unknown
  headers: Readonly<Record<string, string>>
}

/** The run that got the event; null for a repeated event. */
export type ReceivingRun = { workflowId: string; runId: string | null } | null

type HookVerbs = Pick<Workflows, 'start' | 'signal' | 'signalWithStart' | 'completeActivity'>

/** What the hook does with this event. */
export interface HookStep {
  /** Its only rights are those for this step. */
  caller: Caller
  send(workflows: HookVerbs, call: Call): Promise<ReceivingRun>
}

/** Throws a `ValidationError` if the body does not have the values for the placeholders of an id. */
export function stepOf(hook: Hook, event: HookEvent, defaultCatalog: string): HookStep {
  const { name, argument, start, signal, signalWithStart, complete } = hook
  const { workflowId: template } = start ?? signal ?? complete ?? signalWithStart?.start ?? {}
  const workflowId = workflowIdOf(name, template, event)
  const argumentOf = { event: { headers: event.headers, body: event.body }, body: event.body }
  const args = { args: [argumentOf[argument]], argumentPointer: '' }
  const key = event.id === null ? {} : { idempotencyKey: event.id }
  const callerWith = (can: string[], catalog: string): Caller => ({
    id: `hook:${name}`,
    kind: 'granted',
    grants: [{ rule: `hook:${name}`, can, ids: [workflowId], catalogs: [catalog], options: ['workflowIdReusePolicy'] }],
    limits: null,
  })

  if (start !== undefined) {
    const { workflowName, catalog = defaultCatalog } = start
    const options = { workflowIdReusePolicy: 'reject-duplicate' } as const
    return {
      caller: callerWith(['start'], catalog),
      async send(workflows, call) {
        try {
          return await workflows.start({ workflowName, workflowId, catalog, ...args, options }, call)
        } catch (error) {
          // The sender may send the event again: a second start of its id is rejected.
          throw error instanceof Error ? originalError(error) : error
        }
      },
    }
  }
  if (signal !== undefined) {
    const message = { name: signal.name, ...args }
    return {
      caller: callerWith([`signal:${signal.name}`], defaultCatalog),
      send: (workflows, call) => workflows.signal({ ref: { workflowId }, message, ...key }, call),
    }
  }
  if (complete !== undefined) {
    const activityId = filled('activity id', complete.activityId, event.body, activityIdIssue)
    const command = { ref: { workflowId }, activityId, output: args.args[0], ...key }
    return {
      caller: callerWith(['complete'], defaultCatalog),
      async send(workflows, call) {
        const { isRepeated, ...run } = await workflows.completeActivity(command, call)
        return isRepeated ? null : run
      },
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

/** Sends the event. Errors contain neither the names of other workflows, nor the ids of an earlier run. */
export async function sendEvent(
  { send }: Pick<HookStep, 'send'>,
  workflows: HookVerbs,
  call: Call,
): Promise<ReceivingRun> {
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
  return template === undefined
    ? checked('workflow id', `hook:${name}:${encodeClaim(id ?? newId())}`, workflowIdIssue)
    : filled('workflow id', template, body, workflowIdIssue)
}

type FindIssue = (id: string) => string | null

function filled(what: string, template: string, body: unknown, findIssue: FindIssue): string {
  const id = withClaims(template, body)
  if (id !== null) return checked(what, id, findIssue)
  const message = `The ${what} ${template} needs values of the body that are strings or integers, and not empty`
  throw new ServiceError('ValidationError', message)
}

/** Checks an id that contains values of the event, which can make it too long. */
function checked(what: string, id: string, findIssue: FindIssue): string {
  const issue = findIssue(id)
  if (issue === null) return id
  throw new ServiceError('ValidationError', `The ${what} of the event ${issue}`)
}
