/** `portico/client`, which sends what was lost again on its own. */
import { createClient, PorticoError } from '../../../src/client/index.ts'
import { acknowledged, failed, type Intent, type Send } from './intent.ts'

// Long enough for the replacement of a replica.
const RETRY_MS = 15_000
const TIMEOUT_MS = 60_000

export function porticoClient(url: string): Send {
  const client = createClient({ url, retryMs: RETRY_MS })
  const handles = new Map<string, Handle>()
  return async (intent) => {
    try {
      return acknowledged(intent, await call(client, handles, intent))
    } catch (error) {
      if (!(error instanceof PorticoError)) return failed(intent, 'Error', String(error))
      return failed(intent, error.error, error.message, error)
    }
  }
}

type Client = ReturnType<typeof createClient>

function createHandle(client: Client, { workflowName = '', workflowId, runId }: Intent) {
  return client.workflow<AnyWorkflow>(workflowName).get(runId === undefined ? workflowId : { workflowId, runId })
}

type Handle = ReturnType<typeof createHandle>

async function call(client: Client, handles: Map<string, Handle>, intent: Intent): Promise<unknown> {
  const { op, workflowId, runId, key, marker, workflowName = '', input, handler = '', payload, leaveAfterMs } = intent
  const limits = { timeoutMs: leaveAfterMs ?? TIMEOUT_MS }
  // Handles know the run that they have sent to last.
  const name = `${workflowId}/${runId}`
  const handle = handles.get(name) ?? createHandle(client, intent)
  handles.set(name, handle)
  const keyed = key === undefined ? {} : { idempotencyKey: key }
  const policy = intent.conflictPolicy === undefined ? {} : { workflowIdConflictPolicy: intent.conflictPolicy }
  const start = { workflowId, input, ...keyed, ...policy, ...limits }
  const message = { payload, ...keyed, ...limits }
  const reason = { reason: marker ?? '', ...limits }
  switch (op) {
    case 'start':
      return client.workflow<AnyWorkflow>(workflowName).start(start)
    case 'run':
      return client.workflow<AnyWorkflow>(workflowName).runSettled(start)
    case 'signal-with-start':
      return client.workflow<AnyWorkflow>(workflowName).signalWithStart(handler, { ...start, payload })
    case 'update-with-start':
      return client.workflow<AnyWorkflow>(workflowName).updateWithStart(handler, { ...start, payload })
    case 'signal':
      return handle.signal(handler, message)
    case 'update':
      return handle.update(handler, message)
    case 'query':
      return handle.query(handler, limits)
    case 'stop':
      return handle.stop(reason)
    case 'terminate':
      return handle.terminate(reason)
    case 'reset':
      return handle.reset({ stepName: 'step', ...reason })
    case 'status':
      return handle.status(limits)
    case 'result':
      return handle.resultSettled(limits)
  }
}

// The soak does not know the types of its workflows' handlers.
type AnyWorkflow = (input: unknown) => Promise<unknown>
