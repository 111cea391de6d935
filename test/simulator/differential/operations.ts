/** Random calls to the engine, from few ids, so that they often meet the same run. */

import type { Random } from '../../../lab/soak/random.ts'
import type { Method } from '../../../src/service/engine/transport/transport.ts'
import { toPayloads } from '../engine-model/run.ts'
import type { Side } from './sides.ts'

export interface Operation {
  method: Method
  /** The request, with the run ids of this side. */
  requestOf(side: Side): object
}

export interface OperationsOptions {
  random: Random
  /** Begins the ids of the workflows. */
  prefix: string
  taskQueue: string
  /** Labels of the runs that both sides have seen. */
  knownRuns(): readonly string[]
  /** Whether the transport has the calls that only gRPC has. */
  hasUpdates: boolean
}

const COMMON = { namespace: 'default', identity: 'differential' }

export function createOperations({
  random,
  prefix,
  taskQueue,
  knownRuns,
  hasUpdates,
}: OperationsOptions): () => Operation {
  const pickId = () => (random.chance(0.04) ? `${prefix}unknown` : prefix + random.pick(['a', 'b', 'c']))
  const requestId = () => `q${random.below(12)}`

  /** A run of the workflow: the latest one, or one that was seen, perhaps of another id. */
  function target(): (side: Side) => { workflowId: string; runId: string } {
    const workflowId = pickId()
    const runs = knownRuns()
    const label = random.chance(0.6) ? undefined : runs[random.below(runs.length)]
    return (side) => ({ workflowId, runId: label === undefined ? '' : (side.runOf(label) ?? '') })
  }

  function startRequest() {
    const [type, input] = random.pick<readonly [string, object]>([
      ['ledger', {}],
      ['ledger', { perRun: 1 }],
      ['ledger', { perRun: 2 }],
      ['echo', {}],
      ['fails', {}],
      ['steps', { count: 2 }],
    ])
    const reuse = random.chance(0.6) ? { workflowIdReusePolicy: 1 + random.below(3) } : {}
    return {
      ...COMMON,
      workflowId: prefix + random.pick(['a', 'b', 'c']),
      workflowType: { name: type },
      taskQueue: { name: taskQueue },
      requestId: requestId(),
      input: toPayloads({ marker: 'm', ...input }),
      ...reuse,
    }
  }

  function start(): Operation {
    const policy = 1 + random.below(3)
    const { workflowIdReusePolicy: reuse, ...request } = startRequest()
    // The engine rejects the combination of terminate-existing and reject-duplicate.
    const isPossible = reuse !== undefined && !(policy === 3 && reuse === 3)
    const policies = { workflowIdConflictPolicy: policy, ...(isPossible && { workflowIdReusePolicy: reuse }) }
    return same('startWorkflowExecution', { ...request, ...(random.chance(0.7) && policies) })
  }

  const messageArgs = () => toPayloads(random.chance(0.2) ? `reject-${random.below(5)}` : `v${random.below(9)}`)

  function signal(): Operation {
    const run = target()
    const request = { ...COMMON, requestId: requestId(), input: messageArgs() }
    const signalName = random.chance(0.2) ? 'finish' : 'apply'
    return {
      method: 'signalWorkflowExecution',
      requestOf: (side) => ({ ...request, signalName, workflowExecution: run(side) }),
    }
  }

  function signalWithStart(): Operation {
    const request = { ...startRequest(), signalName: 'apply', signalInput: messageArgs() }
    return same('signalWithStartWorkflowExecution', request)
  }

  function control(method: Method, fields: object = {}): Operation {
    const run = target()
    return { method, requestOf: (side) => ({ ...COMMON, ...fields, workflowExecution: run(side) }) }
  }

  function read(method: Method, fields: object = {}): Operation {
    const run = target()
    return { method, requestOf: (side) => ({ ...COMMON, ...fields, execution: run(side) }) }
  }

  function updateFields(): object {
    const meta = { updateId: `u${random.below(10)}`, identity: 'differential' }
    const input = { name: random.pick(['set', 'setSlowly']), args: messageArgs() }
    return { request: { meta, input }, waitPolicy: { lifecycleStage: 2 + random.below(2) } }
  }

  function pollUpdate(): Operation {
    const run = target()
    const updateId = `u${random.below(10)}`
    return {
      method: 'pollWorkflowExecutionUpdate',
      requestOf: (side) => ({ ...COMMON, updateRef: { workflowExecution: run(side), updateId } }),
    }
  }

  function updateWithStart(): Operation {
    const startWorkflow = { ...startRequest(), workflowIdConflictPolicy: 1 + random.below(2) }
    const workflowExecution = { workflowId: startWorkflow.workflowId }
    const updateWorkflow = { ...COMMON, ...updateFields(), workflowExecution }
    return same('executeMultiOperation', { ...COMMON, operations: [{ startWorkflow }, { updateWorkflow }] })
  }

  const kinds: readonly [() => Operation, ...(() => Operation)[]] = [
    start,
    start,
    start,
    signal,
    signal,
    signalWithStart,
    () => control('terminateWorkflowExecution', { reason: 'x' }),
    () => control('requestCancelWorkflowExecution', { reason: 'c', requestId: requestId() }),
    () => control('resetWorkflowExecution', { reason: 'r', requestId: requestId(), workflowTaskFinishEventId: 4 }),
    () => read('describeWorkflowExecution'),
    () => read('getWorkflowExecutionHistory'),
    () => read('getWorkflowExecutionHistory', { historyEventFilterType: 2 }),
    () => read('getWorkflowExecutionHistoryReverse'),
    () => read('queryWorkflow', { query: { queryType: 'state' } }),
    () => control('updateWorkflowExecution', updateFields()),
    () => control('updateWorkflowExecution', updateFields()),
  ]
  const all: typeof kinds = hasUpdates ? [...kinds, pollUpdate, updateWithStart] : kinds
  return () => random.pick(all)()
}

/** A request without run ids. */
function same(method: Method, request: object): Operation {
  return { method, requestOf: () => request }
}
