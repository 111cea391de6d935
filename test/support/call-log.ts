/**
 * The calls that a proxy in front of the engine has seen, so that tests need not wait for the engine's own counters.
 */
import proto from '@temporalio/proto'
import { until } from '../../src/cli/dev/servers/until.ts'

const { GetWorkflowExecutionHistoryRequest } = proto.temporal.api.workflowservice.v1

/** A long poll of a history, as the engine's metrics name it. */
export const POLL = 'PollWorkflowExecutionHistory'

// Calls that no request causes: the ping, and the namespace lookups of the worker SDK.
const IGNORED = /^(?:GetSystemInfo|DescribeNamespace)$/

// A call that follows a response is sent at once.
const QUIET_MS = 100

export interface Calls {
  /** Number of open calls of this operation whose request contains this string, such as a workflow id. */
  open(operation: string, containing?: string): number
  /** Counts the calls while `act` runs, by operation. All of them must be by the service. */
  during(act: () => Promise<unknown>): Promise<Record<string, number>>
}

export interface CallLog extends Calls {
  add(
    operation: string,
    contains: (text: string) => boolean,
    call: { once(event: 'close', ended: () => void): unknown },
  ): void
}

export function createCallLog(): CallLog {
  const counts = new Map<string, number>()
  const open = new Set<{ operation: string; contains: (text: string) => boolean }>()
  let lastAt = 0

  const quiet = () => until('no call is open', () => open.size === 0 && Date.now() - lastAt > QUIET_MS)
  return {
    add(operation, contains, call) {
      if (IGNORED.test(operation)) return
      const entry = { operation, contains }
      counts.set(operation, (counts.get(operation) ?? 0) + 1)
      open.add(entry)
      lastAt = Date.now()
      call.once('close', () => open.delete(entry))
    },
    open: (name, containing = '') =>
      [...open].filter(({ operation, contains }) => operation === name && contains(containing)).length,
    async during(act) {
      await quiet()
      counts.clear()
      await act()
      await quiet()
      return Object.fromEntries(counts)
    },
  }
}

/** The operation of a gRPC call. */
export function grpcOperation(path: string, message: Buffer): string {
  const method = path.slice(path.lastIndexOf('/') + 1)
  // The worker SDK compresses its requests. It does not poll histories.
  const isReadable = method === 'GetWorkflowExecutionHistory' && message[0] === 0
  return isReadable && GetWorkflowExecutionHistoryRequest.decode(message.subarray(5)).waitNewEvent ? POLL : method
}

/** The operation of a call of the engine's HTTP API. */
export function httpOperation(method: string, url: string): string {
  return method === 'GetWorkflowExecutionHistory' && /[?&]waitNewEvent=true\b/.test(url) ? POLL : method
}
