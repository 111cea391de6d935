import { checkValue } from '../../catalog/catalogs.ts'
import type { Call } from '../../model/call.ts'
import type { WorkflowResult } from '../../model/execution.ts'
import { type CallToolResult, cutResult, endedToolResult, type TextPart, unexpectedToolResult } from './tool-result.ts'
import type { WorkflowTool } from './tools.ts'

type CheckedTool = Pick<WorkflowTool, 'outputSchema' | 'workflowName'>

/**
 * The result of the tool for a run that has ended. Clients validate it with the output schema of the tool, and reject
 * the whole result if it does not match. Such an output is therefore in another field, `unexpectedOutput`.
 */
export async function checkedToolResult(
  result: WorkflowResult,
  tool: CheckedTool | undefined,
  part: TextPart,
  call: Call,
): Promise<CallToolResult> {
  return cutResult(await checked(result, tool, call), part)
}

async function checked(result: WorkflowResult, tool: CheckedTool | undefined, call: Call): Promise<CallToolResult> {
  const shown = endedToolResult(result)
  if (result.status !== 'completed' || tool === undefined || tool.outputSchema === null) return shown
  const owner = `tool of workflow "${tool.workflowName}"`
  const { issues } = await checkValue(shown.structuredContent, '', tool.outputSchema, owner, call)
  if (issues.length === 0) return shown
  call.note({ unexpectedOutput: `${issues[0]?.path} ${issues[0]?.message}` })
  return unexpectedToolResult(result)
}
