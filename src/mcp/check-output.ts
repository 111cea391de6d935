import { checkValue } from '../domain/admission/check-argument.ts'
import type { Call } from '../domain/model/call.ts'
import type { WorkflowResult } from '../domain/model/execution.ts'
import { type CallToolResult, endedToolResult, unexpectedToolResult } from './tool-result.ts'
import type { WorkflowTool } from './tools.ts'

/**
 * The result of the tool for a run that has ended. Clients validate it with the output schema of the tool, and reject
 * the whole result if it does not match. Such an output is therefore in another field, `unexpectedOutput`.
 */
export async function checkedToolResult(
  result: WorkflowResult,
  tool: Pick<WorkflowTool, 'outputSchema' | 'workflowName'> | undefined,
  call: Call,
): Promise<CallToolResult> {
  const shown = endedToolResult(result)
  if (result.status !== 'completed' || tool === undefined || tool.outputSchema === null) return shown
  const owner = `tool of workflow "${tool.workflowName}"`
  const { issues } = await checkValue(shown.structuredContent, '', tool.outputSchema, owner, call)
  if (issues.length === 0) return shown
  call.note({ unexpectedOutput: `${issues[0]?.path} ${issues[0]?.message}` })
  return unexpectedToolResult(result)
}
