/** The rows of verbs: each has the right that its caller needs, and decides about a request before the verb acts. */

import { type Access, type AccessRequest, isNarrowed } from '../../shared/access/grant.ts'
import { matchesAll, matchesAny } from '../../shared/access/patterns.ts'
import type { PolicyVerb } from '../../shared/access/policy-verbs.ts'
import type { RunRef } from '../../shared/wire/run-ref.ts'
import { STREAM_PUBLISH } from '../../shared/wire/stream.ts'
import type { ActivityCommand } from '../model/activity.ts'
import type { Call } from '../model/call.ts'
import type { Act, May, SendCommand } from '../model/commands.ts'
import type { CallerRights } from '../model/deployment.ts'
import { hasErrorName } from '../model/errors.ts'
import type { ExecutionRef, OnRun } from '../model/execution.ts'
import type { Link } from '../model/link.ts'
import type { AnswerCommand } from '../model/question.ts'
import type { RunFilter } from '../model/run-filter.ts'
import type { Ports } from '../ports.ts'
import type { CheckedOutput } from '../runs/output-checks.ts'
import type { ReadChain } from '../runs/read-chain.ts'
import type { ReadCapabilities } from '../status/capabilities.ts'
import type { FilterCatalog } from './catalog-filter.ts'
import {
  admitSignal,
  admitsActivity,
  allowHolder,
  allowingGrants,
  allowOperator,
  type DecidePorts,
  decideOnRun,
  denied,
  isRestricted,
  keyOf,
  requestOf,
  rightsOf,
  withDecision,
} from './decide.ts'
import { decideOnRunAgain } from './decide-again.ts'

export interface Verb<Input, Output> {
  /** The right that a caller needs before its request is read; null: what the caller has is the right. */
  access: Access | null
  act: Act<VerbPorts, Input, Output>
  /** Calls `act` if the caller may. */
  decide(ports: VerbPorts, input: Input, call: Call, act: Bound<Input, Output>): Promise<Output>
  /** Of a verb that changes something: the part of the input that may have a key. */
  keyed?(input: Input): Keyed
  /** The part of the output that a schema describes; null where there is nothing to check. */
  outputOf?(output: Output, input: Input): CheckedOutput | null
}

/** A verb, whatever its input and output. */
export interface AnyVerb {
  access: Access | null
  act: Act<VerbPorts, never, unknown>
  decide(ports: VerbPorts, input: never, call: Call, act: never): Promise<unknown>
  keyed?(input: never): Keyed
  outputOf?(output: never, input: never): CheckedOutput | null
}

export interface Keyed {
  idempotencyKey?: string
}

/** The row of a verb that changes something: without a key, its errors do not make clients repeat the request. */
export function effect<Input, Output>(verb: Verb<Input, Output>): Verb<Input, Output> {
  return { ...verb, keyed: (input) => input as Keyed }
}

/** The row of a verb with an output that the deployment may check. */
export function checked<Input, Output>(
  outputOf: (output: Output, input: Input) => CheckedOutput | null,
  verb: Verb<Input, Output>,
): Verb<Input, Output> {
  return { ...verb, outputOf }
}

export interface VerbPorts extends Ports, Pick<DecidePorts, 'defaults' | 'namespace'> {
  filterCatalog: FilterCatalog
  readChain: ReadChain
  readCapabilities: ReadCapabilities
}

/** A verb over its ports. */
export type Bound<Input, Output> = (input: Input, call: Call) => Promise<Output>

// For an operator, the functions below are not async: otherwise a waiting request would take more memory.

interface RunRow<Input> {
  request(input: Input): AccessRequest
  /** The run that the input names, if it names one besides `ref`. */
  pin?(input: Input, ports: VerbPorts, call: Call): ExecutionRef | Promise<ExecutionRef>
  /** What the verb must know of its caller. */
  add?(input: Input, ref: ExecutionRef, ports: VerbPorts, call: Call): Partial<Input>
}

function ofRun<Input extends OnRun, Output>(
  access: Access,
  act: Act<VerbPorts, Input, Output>,
  { request, pin, add }: RunRow<Input>,
): Verb<Input, Output> {
  return {
    access,
    act,
    decide(ports, input, call, act) {
      const decide = (ref: ExecutionRef) =>
        decideRun(ports, request(input), ref, call, (ref, call) =>
          act({ ...input, ref, ...add?.(input, ref, ports, call) }, call),
        )
      const ref = pin?.(input, ports, call) ?? input.ref
      return ref instanceof Promise ? ref.then(decide) : decide(ref)
    },
  }
}

function decideRun<Output>(
  ports: VerbPorts,
  request: AccessRequest,
  ref: ExecutionRef,
  given: Call,
  act: (ref: ExecutionRef, call: Call) => Promise<Output>,
  call = withDecision(given),
): Promise<Output> {
  const rights = rightsOf(call, ports)
  if (rights.kind === 'granted')
    return decideOnRun(ports, rights.grants, request, ref, call).then((it) => {
      decideOnRunAgain(ports, request, it, call)
      return act(it.ref, it.call)
    })
  allowOperator(request, ref, call)
  return act(ref, call)
}

/** Acts on a run. */
export function onRun<Input extends OnRun, Output>(
  verb: PolicyVerb,
  act: Act<VerbPorts, Input, Output>,
  options: Omit<RunRow<Input>, 'request'> = {},
): Verb<Input, Output> {
  return ofRun(verb, act, { request: () => ({ verb }), ...options })
}

/** What else the caller may do, for a verb that shows it. */
export function whatElse(ports: VerbPorts, call: Call): { may: May } {
  const rights = rightsOf(call, ports)
  return {
    may: (request) => rights.kind === 'operator' || allowingGrants(ports, rights.grants, request).length > 0,
  }
}

/** Sends a message to a handler of a run. */
export function onHandler<Output>(
  verb: 'signal' | 'query' | 'update',
  act: Act<VerbPorts, SendCommand, Output>,
): Verb<SendCommand, Output> {
  return ofRun(verb, act, { request: ({ message }) => requestOf(verb, message), add: withOwnKey })
}

/** Sends what is published to the handler of a stream. */
export function onStream<Input extends OnRun & { idempotencyKey?: string }, Output>(
  act: Act<VerbPorts, Input, Output>,
): Verb<Input, Output> {
  return ofRun('signal', act, { request: () => ({ verb: 'signal', handler: STREAM_PUBLISH }), add: withOwnKey })
}

/** Reads what a handler has returned. */
export function onUpdate<Input extends OnRun & { name: string; checksName?: boolean }, Output>(
  act: Act<VerbPorts, Input, Output>,
): Verb<Input, Output> {
  return ofRun('update', act, {
    request: ({ name: handler }) => ({ verb: 'update', handler }),
    add(_, __, ports, call) {
      // The engine finds an update by its id alone.
      const rights = rightsOf(call, ports)
      const checksName = rights.kind === 'granted' && rights.grants.some((grant) => isNarrowed(grant, 'update'))
      return checksName ? ({ checksName } as Partial<Input>) : {}
    },
  })
}

/** Answers a question. Only the run says which signal takes the answer: `admit`. */
export function onQuestion<Output>(act: Act<VerbPorts, AnswerCommand, Output>): Verb<AnswerCommand, Output> {
  return {
    access: 'signal',
    act,
    decide(ports, input, given, act) {
      const call = withDecision(given)
      const admit = admitSignal(ports, call)
      const answer = (ref: ExecutionRef, reading: Call) => {
        call.audit({ action: 'signal' })
        return act({ ...input, ref, admit }, reading)
      }
      return decideRun(ports, { verb: 'read' }, input.ref, given, answer, call)
    },
  }
}

/**
 * Changes an activity. The verb may be narrowed to types of activities, and only the engine knows the type: `admits`.
 */
export function onActivity<Input extends ActivityCommand, Output>(
  verb: 'complete' | 'repair',
  act: Act<VerbPorts, Input, Output>,
): Verb<Input, Output> {
  const request = ({ toCatalog }: Input) => ({ verb, ...(toCatalog !== undefined && { catalog: toCatalog }) })
  return ofRun(verb, act, {
    request,
    add: (input, ref, ports, call) => ({
      ...({ admits: admitsActivity(ports, request(input), ref, call) } as Partial<Input>),
      ...withOwnKey(input, ref, ports, call),
    }),
  })
}

/** Changes options of a run. It needs the verb for all types of activities, and each option by its name. */
export function onOptions<Input extends OnRun & { options: object }, Output>(
  act: Act<VerbPorts, Input, Output>,
): Verb<Input, Output> {
  const request = ({ options }: Input) => ({ verb: 'repair', isWhole: true, options: Object.keys(options) }) as const
  return ofRun('repair', act, { request })
}

function withOwnKey<Input extends { idempotencyKey?: string }>(
  input: Input,
  _: ExecutionRef,
  __: VerbPorts,
  call: Call,
): Partial<Input> {
  return isRestricted(call) ? (keyOf(input, call) as Partial<Input>) : {}
}

/** Reads a chain: after its run was deleted, through the latest run, if that is of the same chain. */
export function onChain<Output extends RunRef>(act: Act<VerbPorts, OnRun, Output>): Verb<OnRun, Output> {
  return {
    access: 'read',
    act,
    async decide(ports, { ref }, given, act) {
      // One decision: that on the second attempt replaces that on the first.
      const call = withDecision(given)
      const request = { verb: 'read' } as const
      try {
        return await decideRun(ports, request, ref, call, (ref, call) => act({ ref }, call), call)
      } catch (error) {
        if (!hasErrorName(error, 'WorkflowNotFoundError') || ref.runId === undefined || !isRestricted(call)) throw error
        const { workflowId } = ref
        const readLatest = async (latest: ExecutionRef, call: Call) => {
          const chain = await act({ ref }, call)
          if (chain.runId !== latest.runId) throw error
          return chain
        }
        return decideRun(ports, request, { workflowId }, call, readLatest, call)
      }
    },
  }
}

interface Named {
  workflowId: string
  workflowName: string
}

/**
 * Lists or counts the runs that the caller may see. `select` leaves out what the engine has returned besides: its
 * database may ignore case. `add`: what the verb must know of its caller.
 */
export function onVisible<Input extends { filter: RunFilter }, Output>(
  act: Act<VerbPorts, Input, Output>,
  select: (found: Output, isVisible: (run: Named) => boolean) => Output = (found) => found,
  add: (ports: VerbPorts, call: Call) => Partial<Input> = () => ({}),
): Verb<Input, Output> {
  const request = { verb: 'list' } as const
  return {
    access: 'list',
    act,
    async decide(ports, command, given, act) {
      const call = withDecision(given)
      const rights = rightsOf(call, ports)
      const input = { ...command, ...add(ports, call) }
      if (rights.kind === 'operator') {
        allowOperator(request, {}, call)
        return act(input, call)
      }
      const allowing = allowingGrants(ports, rights.grants, request)
      const [first] = allowing
      if (first === undefined) throw denied(request, call)
      call.audit({ action: 'list', rule: first.rule })
      if (allowing.some(({ ids, workflows }) => matchesAll(ids) && matchesAll(workflows))) return act(input, call)
      const visible = allowing.map(({ ids, workflows }) => ({ ids, workflows }))
      const found = await act({ ...input, filter: { ...input.filter, visible } }, call)
      return select(found, ({ workflowId, workflowName }) =>
        visible.some(({ ids, workflows }) => matchesAny(ids, workflowId) && matchesAny(workflows, workflowName)),
      )
    },
  }
}

/** Reads or uses a link. Whoever has it is its caller. */
export function onHolder<Input extends { link: Link }, Output>(
  accessOf: (link: Link) => AccessRequest,
  act: Act<VerbPorts, Input, Output>,
): Verb<Input, Output> {
  return {
    access: null,
    act,
    decide(_, input, given, act) {
      const call = withDecision(given)
      allowHolder(accessOf(input.link), input.link, call)
      return act(input, call)
    },
  }
}

/** What every caller may. `hide` leaves out what callers with rules do not see, and may add what these allow. */
export function forEveryone<Input, Output>(
  act: Act<VerbPorts, Input, Output>,
  hide: (output: Output, caller: CallerRights) => Output,
): Verb<Input, Output> {
  return {
    access: 'any',
    act,
    async decide(ports, input, call, act) {
      const output = await act(input, call)
      const rights = rightsOf(call, ports)
      if (call.caller === undefined || rights.kind === 'operator') return output
      const can = [...new Set(rights.grants.flatMap(({ can }) => can))].toSorted()
      return hide(output, { name: call.caller.id, can })
    },
  }
}
