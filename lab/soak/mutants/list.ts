/** Defects that the checker has to find: each replaces a text of the sources by another one. */
import { readFile } from 'node:fs/promises'

export interface Mutant {
  name: string
  file: string
  /** Occurs exactly once in the file. */
  target: string
  replacement: string
}

export const MUTANTS: readonly Mutant[] = [
  {
    name: 'service: the key of a signal is not sent to the engine',
    file: 'src/service/engine/calls/signal.ts',
    target: '    requestId,\n  }',
    replacement: '    requestId: crypto.randomUUID() || requestId,\n  }',
  },
  {
    name: 'service: the id of an update is random, with a key too',
    file: 'src/service/model/keyed-id.ts',
    target: 'return idempotencyKey === undefined ? newId()',
    replacement: 'return idempotencyKey !== null ? newId()',
  },
  {
    name: 'service: all updates of a handler have one id',
    file: 'src/service/messages/messages.ts',
    target: 'updateIdOf(idempotencyKey, message.name)',
    replacement: "updateIdOf('always', message.name)",
  },
  {
    name: 'service: the key of a start that was carried out is not recognized',
    file: 'src/service/start/start.ts',
    target: 'if (found?.key !== startKey.key)',
    replacement: 'if (found !== undefined)',
  },
  {
    name: 'service: Idempotency-Replayed is never true',
    file: 'src/service/http/pipeline/request-checks.ts',
    target: "setHeader(c, REPLAYED, 'true')",
    replacement: "setHeader(c, REPLAYED, 'false')",
  },
  {
    name: 'service: a canceled run is terminated, in its result',
    file: 'src/shared/temporal/outcome.ts',
    target: "status: 'canceled',",
    replacement: "status: 'terminated',",
  },
  {
    name: 'service: the result of the latest run is that of an earlier one, from memory',
    file: 'src/service/runs/closed-runs.ts',
    target: 'if (ref.runId === undefined && !(await isLatest(kept, ref, call)))',
    replacement: "if (ref.runId === '' && !(await isLatest(kept, ref, call)))",
  },
  {
    name: 'service: use-existing terminates the run that exists',
    file: 'src/service/engine/calls/start.ts',
    target: "'use-existing': WorkflowIdConflictPolicy.USE_EXISTING",
    replacement: "'use-existing': WorkflowIdConflictPolicy.TERMINATE_EXISTING",
  },
  {
    name: 'service: a start with a key uses any open run',
    file: 'src/service/start/start.ts',
    target: "{ workflowIdConflictPolicy: 'fail', workflowIdReusePolicy: 'reject-duplicate' } as const",
    replacement: "{ workflowIdConflictPolicy: 'use-existing' } as const",
  },
  {
    name: 'service: the result of a chain is that of its first run',
    file: 'src/shared/temporal/outcome.ts',
    target: 'return attributes?.newExecutionRunId || null',
    replacement: 'return attributes ? null : null',
  },
  {
    name: 'service: a start that failed is acknowledged',
    file: 'src/service/start/start.ts',
    target: '  return ports.engine.start(request, call)\n',
    replacement:
      '  const { workflowId } = request\n' +
      "  return ports.engine.start(request, call).catch(() => ({ workflowId, runId: crypto.randomUUID(), firstRunId: '' }))\n",
  },
  {
    name: 'service: a start is carried out under another workflow id',
    file: 'src/service/engine/calls/start.ts',
    target: "      rpc('startWorkflowExecution', startWorkflow, watched, {",
    replacement: "      rpc('startWorkflowExecution', { ...startWorkflow, workflowId: workflowId + '-' }, watched, {",
  },
  {
    name: 'service: a signal that failed is acknowledged',
    file: 'src/service/messages/messages.ts',
    target: '...(requestId && { requestId }) }, call)',
    replacement: '...(requestId && { requestId }) }, call).catch(() => ({ runId: null }))',
  },
  {
    name: 'service: a signal to one run goes to the latest run',
    file: 'src/service/engine/calls/signal.ts',
    target: 'workflowExecution: toExecution(ref),',
    replacement: 'workflowExecution: toExecution({ workflowId: ref.workflowId }),',
  },
  {
    name: 'service: terminating a closed run is acknowledged',
    file: 'src/service/control/control.ts',
    target: 'if (!isOpen(run.status)) throw notRunning(run)',
    replacement: 'if (!isOpen(run.status)) return notRunning(run) && { workflowId: run.workflowId, runId: run.runId }',
  },
  {
    name: 'service: a stop is acknowledged but not sent',
    file: 'src/service/control/control.ts',
    target: 'if (cancelRequested) await',
    replacement: "if (runId === '') await",
  },
  {
    name: 'service: a reset whose response was lost is sent again',
    file: 'src/service/engine/calls/reset.ts',
    target: '    if (runId === null) throw unknownOutcomeError(executionIds(run), error)\n',
    replacement:
      '    if (runId === null) throw unknownOutcomeError(executionIds(run), error)\n' +
      '    if (runId) return { retryRequest: { ...request, requestId: crypto.randomUUID() } } as never\n',
  },
  {
    name: 'service: a signal-with-start whose response was lost is sent again with another id',
    file: 'src/service/engine/calls/signal-with-start.ts',
    target: '    const latest = await findLatestRun(context, atMostOnce, sentAt, call)\n    const lost',
    replacement:
      '    if (!isResent) {\n      isResent = true\n' +
      '      return { retryRequest: { ...toSend, requestId: crypto.randomUUID() } }\n    }\n' +
      '    const latest = await findLatestRun(context, atMostOnce, sentAt, call)\n    const lost',
  },
  {
    name: 'service: a repeated start names the latest run instead of the first',
    file: 'src/service/start/start.ts',
    target: 'return { workflowId, runId: firstRunId, repeatedStatus: status }',
    replacement: 'return { workflowId, runId: result.repeated.runId || firstRunId, repeatedStatus: status }',
  },
  {
    name: 'service: a message whose response was lost is sent again to the latest run',
    file: 'src/service/engine/calls/at-most-once/lost-response.ts',
    target: 'if (ref.runId === undefined) ref = {',
    replacement: 'if (ref.runId === "") ref = {',
  },
  {
    name: 'service: the status of one run is that of the latest',
    file: 'src/service/engine/calls/describe.ts',
    target: 'execution: toExecution(ref)',
    replacement: 'execution: toExecution({ workflowId: ref.workflowId })',
  },
  {
    name: 'service: a run with respond-async takes two places and gives back one',
    file: 'src/service/http/pipeline/places.ts',
    target: '    isWorking = true\n',
    replacement: "    isWorking = true\n    if (c.req.header('Prefer') === 'respond-async') limit.take()\n",
  },
  {
    name: 'client: each attempt has another key',
    file: 'src/client/connection/connection.ts',
    target: '    const headers = new Headers({ ...everyHeaders, ...ownHeaders })\n',
    replacement:
      '    const headers = new Headers({ ...everyHeaders, ...ownHeaders })\n' +
      "    if (headers.has('Idempotency-Key')) headers.set('Idempotency-Key', crypto.randomUUID())\n",
  },
  {
    name: 'client: a message without a run id is sent again to the latest run',
    file: 'src/client/run-of-handle.ts',
    target: '          return await send(pathOfRun(runId), rest())\n',
    replacement: '          return await send(pathOf({ ...target, runId }), rest())\n',
  },
  {
    name: 'client: a reset whose response was lost is sent again',
    file: 'src/client/handle.ts',
    target: "reports.post('reset', request, {})",
    replacement: "reports.post('reset', request)",
  },
]

/** The whole file with the defect. Throws if its text has moved. */
export async function mutated({ name, file, target, replacement }: Mutant): Promise<string> {
  const source = await readFile(new URL(`../../../${file}`, import.meta.url), 'utf8')
  const parts = source.split(target)
  if (parts.length !== 2)
    throw new Error(`"${name}": the text to replace occurs ${parts.length - 1} times in ${file}; adapt the mutant`)
  return parts.join(replacement)
}
