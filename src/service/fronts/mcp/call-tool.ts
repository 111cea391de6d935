/** Executes `tools/call`. */

import { isObject } from '../../../shared/lib/json.ts'
import type { Call } from '../../model/call.ts'
import { ServiceError } from '../../model/errors.ts'
import type { Workflows } from '../../verbs.ts'
import { awaitRun, type ToolAnswer, type WaitStyle } from './await-run.ts'
import { checkedToolResult } from './check-output.ts'
import { withJsonText } from './json-text.ts'
import { invalidParams } from './rpc-error.ts'
import { RUN_TOOLS } from './run-tools.ts'
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
  maxOutputBytes: number
  idempotencyKey: string | undefined
  /** Reads the catalog, which a tool for runs does not need. */
  readTools(): Promise<ToolSet>
}

/** Rejects with `JsonRpcError` if there is no such tool. Every other error that is expected is a result. */
export async function callTool(workflows: Workflows, toolCall: ToolCall, call: Call): Promise<ToolAnswer> {
  const { name, given } = toolCall
  if (typeof name !== 'string') throw invalidParams('name must be a string')
  if (given !== undefined && !isObject(given)) throw invalidParams('arguments must be an object')
  const runTool = RUN_TOOLS.find(({ tool }) => tool.name === name)
  try {
    if (runTool !== undefined) {
      call.note({ tool: name })
      return await withJsonText(given ?? {}, call, (values, call) =>
        runTool.use({ ...toolCall, workflows, given: values, call }),
      )
    }
    const tool = (await toolCall.readTools()).byName.get(name)
    if (tool === undefined) throw invalidParams(`Unknown tool: ${name.slice(0, 100)}`)
    call.note({ tool: tool.tool.name })
    if (given === undefined) return await startWorkflow(workflows, tool, { ...toolCall, given }, call)
    return await withJsonText(given, call, (values, call) =>
      startWorkflow(workflows, tool, { ...toolCall, given: values }, call),
    )
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error
    call.reportError(error)
    return { kind: 'result', result: rejectedToolResult(error) }
  }
}

function startWorkflow(
  workflows: Workflows,
  tool: WorkflowTool,
  toolCall: ToolCall & { given: Readonly<Record<string, unknown>> | undefined },
  call: Call,
): Promise<ToolAnswer> {
  const { catalog, idempotencyKey, given, maxOutputBytes } = toolCall
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
      isKeyed: idempotencyKey !== undefined,
      wait: (timeoutMs, onStarted) => workflows.run({ ...command, timeoutMs, onStarted }, call),
      toResult: (result) => checkedToolResult(result, tool, { maxBytes: maxOutputBytes }, call),
    },
    toolCall,
    call,
  )
}
