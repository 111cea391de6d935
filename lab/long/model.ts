/** The invariants of a run of the test workflow `messages` under any sequence of requests. */

export type Status = 'canceled' | 'completed' | 'running' | 'terminated'

export interface Run {
  runId: string
  status: Status
  /** What the signal `add` has brought, in this order. */
  gathered: unknown[]
  /** What the update `set` has left. */
  value: unknown
}

export type Verb = 'finish' | 'query' | 'result' | 'signal' | 'start' | 'status' | 'stop' | 'terminate' | 'update'

export interface Expected {
  status: number
  /** What the body holds, beside whatever else. */
  body: object
  /** The run from then on. */
  run?: Run
}

const NOT_FOUND: Expected = { status: 404, body: { error: 'WorkflowNotFoundError' } }

/**
 * The expected answer to `verb` with `value`. `run`: the one it is about, for a start the latest;
 * absent if the id has none.
 */
export function expected(run: Run | undefined, verb: Verb, value: unknown): Expected {
  if (verb === 'start') return expectedStart(run)
  if (run === undefined) return NOT_FOUND
  const { runId, status, gathered } = run
  const state = { gathered, value: run.value }
  if (verb === 'status') return { status: 200, body: { runId, status } }
  if (verb === 'query') return { status: 200, body: state }
  if (status === 'running') return expectedOfOpen(run, verb, value)
  if (verb === 'stop') return { status: 200, body: { runId, cancelRequested: false, status } }
  if (verb === 'result')
    return { status: 200, body: { runId, status, input: null, output: status === 'completed' ? state : null } }
  return { status: 409, body: { error: 'WorkflowNotRunningError', workflowStatus: status } }
}

function expectedStart(run: Run | undefined): Expected {
  if (run?.status === 'running')
    return { status: 409, body: { error: 'WorkflowAlreadyStartedError', runId: run.runId } }
  // Only the engine knows the run id: the caller fills it in.
  return { status: 200, body: { status: 'running' }, run: { runId: '', status: 'running', gathered: [], value: null } }
}

function expectedOfOpen(run: Run, verb: Exclude<Verb, 'query' | 'start' | 'status'>, value: unknown): Expected {
  const { runId, status, gathered } = run
  switch (verb) {
    case 'result':
      return { status: 424, body: { error: 'WorkflowNotCompletedError', runId, workflowStatus: status } }
    case 'signal':
      return { status: 200, body: { runId, accepted: true }, run: { ...run, gathered: [...gathered, value] } }
    case 'update':
      return { status: 200, body: { before: run.value, after: value }, run: { ...run, value } }
    case 'finish':
      return { status: 200, body: { runId, accepted: true }, run: { ...run, status: 'completed' } }
    case 'terminate':
      return { status: 200, body: { runId, terminated: true }, run: { ...run, status: 'terminated' } }
    case 'stop':
      return { status: 200, body: { runId, cancelRequested: true }, run: { ...run, status: 'canceled' } }
  }
}
