/** What must hold of a run of the test workflow `messages`, whatever it is asked, in whatever order. */

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

/** What `verb` with `value` must be answered about a run of an id, for a start the latest one, or about an id that has none. */
export function expected(run: Run | undefined, verb: Verb, value: unknown): Expected {
  if (verb === 'start') {
    if (run?.status === 'running')
      return { status: 409, body: { error: 'WorkflowAlreadyStartedError', runId: run.runId } }
    // Which run it is only the engine can say: whoever asks puts it in.
    return {
      status: 200,
      body: { status: 'running' },
      run: { runId: '', status: 'running', gathered: [], value: null },
    }
  }
  if (run === undefined) return { status: 404, body: { error: 'WorkflowNotFoundError' } }
  const { runId, status, gathered } = run
  const state = { gathered, value: run.value }
  const open = status === 'running'
  const closed = { status: 409, body: { error: 'WorkflowNotRunningError', workflowStatus: status } }
  switch (verb) {
    case 'status':
      return { status: 200, body: { runId, status } }
    case 'query':
      return { status: 200, body: state }
    case 'result':
      if (open) return { status: 424, body: { error: 'WorkflowNotCompletedError', runId, workflowStatus: status } }
      return { status: 200, body: { runId, status, input: null, output: status === 'completed' ? state : null } }
    case 'signal':
      return open
        ? { status: 200, body: { runId, accepted: true }, run: { ...run, gathered: [...gathered, value] } }
        : closed
    case 'update':
      return open ? { status: 200, body: { before: run.value, after: value }, run: { ...run, value } } : closed
    case 'finish':
      return open ? { status: 200, body: { runId, accepted: true }, run: { ...run, status: 'completed' } } : closed
    case 'terminate':
      return open ? { status: 200, body: { runId, terminated: true }, run: { ...run, status: 'terminated' } } : closed
    case 'stop':
      if (!open) return { status: 200, body: { runId, cancelRequested: false, status } }
      return { status: 200, body: { runId, cancelRequested: true }, run: { ...run, status: 'canceled' } }
  }
}
