/** Executes `tools/call`. */
import type { Call } from '../domain/model/call.ts'
import { ServiceError } from '../domain/model/errors.ts'
import type { Workflows } from '../domain/model/workflows.ts'
import { isObject } from '../lib/is-object.ts'
import { awaitRun, type ToolAnswer, type WaitStyle } from './await-run.ts'
import { checkedToolResult } from './check-output.ts'
import { invalidParams } from './rpc-error.ts'
import { RUN_TOOLS, type RunToolContext } from './run-tools.ts'
import { workflowArguments } from './tool-arguments.ts'
import { rejectedToolResult } from './tool-result.ts'
import type { ToolSet, WorkflowTool } from './tools.ts'

export interface ToolCall extends WaitStyle {
  name: unknown
  /** `arguments` of the call. */
  given: unknown
  catalog: string
  /** The longest wait that a caller may choose. */
  maxWaitMs: number
  idempotencyKey: string | undefined
  tools: ToolSet
}

/** Rejects with `RpcError` if there is no such tool. Every other error that is expected is a result. */
export async function callTool(workflows: Workflows, toolCall: ToolCall, call: Call): Promise<ToolAnswer> {
  const { name, given } = toolCall
  if (typeof name !== 'string') throw invalidParams('name must be a string')
  if (given !== undefined && !isObject(given)) throw invalidParams('arguments must be an object')
  const runTool = RUN_TOOLS.find(({ tool }) => tool.name === name)
  const tool = runTool === undefined ? toolCall.tools.byName.get(name) : undefined
  if (runTool === undefined && tool === undefined) throw invalidParams(`Unknown tool: ${name.slice(0, 100)}`)
  call.note({ tool: tool?.tool.name ?? name })
  try {
    if (tool !== undefined) return await startWorkflow(workflows, tool, { ...toolCall, given }, call)
    const context: RunToolContext = { ...toolCall, workflows, given: given ?? {}, call }
    return (await runTool?.use(context)) ?? Promise.reject(invalidParams('Unknown tool'))
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    call.reportError(error)
    return { kind: 'result', result: rejectedToolResult(error) }
  }
}

function startWorkflow(
  workflows: Workflows,
  tool: WorkflowTool,
  toolCall: ToolCall & { given: Record<string, unknown> | undefined },
  call: Call,
): Promise<ToolAnswer> {
  const { catalog, idempotencyKey, given } = toolCall
  const command = {
    workflowName: tool.workflowName,
    catalog,
    ...workflowArguments(tool, given),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  }
  return awaitRun(
    workflows,
    {
      starts: true,
      wait: (timeoutMs, onStarted) => workflows.run({ ...command, timeoutMs, onStarted }, call),
      toResult: (result) => checkedToolResult(result, tool, call),
    },
    toolCall,
    call,
  )
}
