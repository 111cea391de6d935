/** The tools for runs that exist. */

import type { ShownSchema } from '../../../shared/json-schema/published/schema-keywords.ts'
import { durationMs } from '../../../shared/lib/duration.ts'
import { STATUSES } from '../../../shared/wire/execution.ts'
import {
  filterValueIssue,
  handlerNameIssue,
  runIdIssue,
  workflowIdIssue,
  workflowNameIssue,
} from '../../../shared/wire/names.ts'
import { checkValue } from '../../catalog/catalogs.ts'
import type { Call } from '../../model/call.ts'
import type { SendCommand } from '../../model/commands.ts'
import { invalidValue, ServiceError } from '../../model/errors.ts'
import type { ExecutionRef, WorkflowResult } from '../../model/execution.ts'
import type { Workflows } from '../../verbs.ts'
import { awaitRun, type ToolAnswer, type WaitStyle } from './await-run.ts'
import { checkedToolResult } from './check-output.ts'
import { typedParameter } from './schemas/host-schema.ts'
import { RUN_TOOL_PREFIX } from './tool-name.ts'
import { valueResult } from './tool-result.ts'
import type { Tool } from './tools.ts'

export interface RunToolContext extends WaitStyle {
  workflows: Workflows
  given: Readonly<Record<string, unknown>>
  /** The catalog whose runs `workflow_runs` lists. */
  catalog: string
  maxWaitMs: number
  maxOutputBytes: number
  idempotencyKey: string | undefined
  call: Call
}

interface RunTool {
  tool: Tool
  use(context: RunToolContext): Promise<ToolAnswer>
}

const WORKFLOW_ID = { type: 'string', description: 'Id of the workflow' }
const RUN_ID = { type: 'string', description: 'One run of the workflow. Default: the latest' }
const OF_RUN = { workflowId: WORKFLOW_ID, runId: RUN_ID }
const PAYLOAD = typedParameter({ description: 'The argument of the handler; absent for none' })
const READ = { readOnlyHint: true, openWorldHint: false }
const CHANGE = { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false }
const STOP = { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false }

export const RUN_TOOLS: readonly RunTool[] = [
  runTool({
    name: 'result',
    description: 'Waits for the result of a workflow that has been started. Never starts one.',
    properties: {
      ...OF_RUN,
      wait: { type: 'string', description: 'How long to wait, for example `30s` or `5m`' },
      offset: { type: 'integer', minimum: 0, description: 'Where to read on in the text of a long output' },
    },
    annotations: READ,
    async use(context) {
      const { workflows, given, maxOutputBytes, call } = context
      const ref = refOf(context)
      const part = { maxBytes: maxOutputBytes, offset: given.offset === undefined ? 0 : Number(given.offset) }
      const waitMs = waitOf(context)
      const wait = (waitMs: number, onFound: (run: { workflowId: string; runId: string }) => void) =>
        workflows.result({ ref, followsChain: true, waitMs, onFound }, call)
      const toResult = (result: WorkflowResult) => checkedToolResult(result, undefined, part, call)
      return awaitRun(workflows, { wait, toResult, starts: false }, { ...context, waitMs }, call)
    },
  }),
  runTool({
    name: 'explain',
    description: 'Says why a workflow has not completed yet, and what can be done about it.',
    properties: OF_RUN,
    annotations: READ,
    async use(context) {
      const { reasons, run: _, ...explanation } = await context.workflows.explain({ ref: refOf(context) }, context.call)
      // An agent has tools instead of requests.
      return value({ ...explanation, reasons: reasons.map(({ action: __, ...reason }) => reason) })
    },
  }),
  messageTool({
    kind: 'query',
    description: 'Sends a query to a workflow and returns its result. Changes nothing.',
    annotations: READ,
    async send(command, { workflows, call }) {
      return { ...command.ref, query: command.message.name, result: await workflows.query(command, call) }
    },
  }),
  messageTool({
    kind: 'signal',
    description: 'Sends a signal to a running workflow, which handles it later.',
    annotations: CHANGE,
    async send(command, context) {
      const { workflowId, runId, warnings } = await context.workflows.signal(keyed(command, context), context.call)
      const warned = warnings.length > 0 && { warnings }
      return { workflowId, runId, signal: command.message.name, accepted: true, ...warned }
    },
  }),
  messageTool({
    kind: 'update',
    description: 'Sends an update to a running workflow and returns its result.',
    annotations: CHANGE,
    async send(command, context) {
      const result = await context.workflows.update(keyed(command, context), context.call)
      return { ...command.ref, update: command.message.name, result }
    },
  }),
  runTool({
    name: 'stop',
    description: 'Requests the cancellation of a workflow, which can clean up before it ends.',
    properties: { ...OF_RUN, reason: { type: 'string', description: 'Why, for the history of the workflow' } },
    annotations: STOP,
    async use(context) {
      const { workflows, given, call } = context
      const reason = typeof given.reason === 'string' ? given.reason : null
      return value({ ...(await workflows.stop({ ref: refOf(context), reason }, call)) })
    },
  }),
  runTool({
    name: 'runs',
    description: 'Lists runs of workflows, open ones first.',
    properties: {
      workflowName: { type: 'string', description: 'Only runs of this workflow' },
      status: { type: 'string', enum: STATUSES },
      pageSize: { type: 'integer', minimum: 1, maximum: 100, description: 'Default: 20' },
      pageToken: { type: 'string', description: '`nextPageToken` of the previous page' },
    },
    ofRun: false,
    annotations: READ,
    async use({ workflows, catalog, given, call }) {
      const { workflowName, status, pageSize = 20, pageToken = null } = given as RunsArguments
      if (workflowName !== undefined) check('workflowName', workflowName, filterValueIssue, workflowNameIssue)
      const filter = { catalog, ...(workflowName !== undefined && { workflowName }), ...(status && { status }) }
      return value({ ...(await workflows.list({ filter, pageSize, pageToken }, call)) })
    },
  }),
]

interface RunsArguments {
  workflowName?: string
  status?: (typeof STATUSES)[number]
  pageSize?: number
  pageToken?: string
}

interface RunToolDeclaration {
  name: string
  description: string
  properties: Record<string, ShownSchema>
  required?: readonly string[]
  /** Whether `workflowId` is required. Default: true. */
  ofRun?: boolean
  annotations: object
  use(context: RunToolContext): Promise<ToolAnswer>
}

function runTool(declaration: RunToolDeclaration): RunTool {
  const { name, description, properties, required = [], ofRun = true, annotations, use } = declaration
  const inputSchema = {
    type: 'object',
    properties,
    required: [...(ofRun ? ['workflowId'] : []), ...required],
    additionalProperties: false,
  }
  const tool = { name: `${RUN_TOOL_PREFIX}${name}`, description, inputSchema, annotations }
  return {
    tool,
    async use(context) {
      const { issues } = await checkValue(context.given, '', inputSchema, `tool ${tool.name}`, context.call)
      const [first] = issues
      if (first === undefined) return use(context)
      throw new ServiceError('ValidationError', `${first.path} ${first.message}`.trim(), { details: { issues } })
    },
  }
}

interface MessageToolDeclaration {
  kind: 'query' | 'signal' | 'update'
  description: string
  annotations: object
  send(command: SendCommand, context: RunToolContext): Promise<Record<string, unknown>>
}

function messageTool({ kind, description, annotations, send }: MessageToolDeclaration): RunTool {
  return runTool({
    name: kind,
    description,
    properties: { ...OF_RUN, [kind]: { type: 'string', description: `Name of the ${kind}` }, payload: PAYLOAD },
    required: [kind],
    annotations,
    use: async (context) => value(await send(messageOf(context, kind), context)),
  })
}

function value(value: Record<string, unknown>): ToolAnswer {
  return { kind: 'result', result: valueResult(value) }
}

/** The arguments are strings: the schema of the tool was checked. */
function refOf({ given }: Pick<RunToolContext, 'given'>): ExecutionRef {
  const workflowId = check('workflowId', given.workflowId, workflowIdIssue)
  if (given.runId === undefined) return { workflowId }
  return { workflowId, runId: check('runId', given.runId, runIdIssue).toLowerCase() }
}

function messageOf(context: RunToolContext, kind: MessageToolDeclaration['kind']): SendCommand {
  const { payload } = context.given
  const name = check(kind, context.given[kind], handlerNameIssue)
  return {
    ref: refOf(context),
    message: { name, args: payload === undefined ? [] : [payload], argumentPointer: '/payload' },
  }
}

function keyed(command: SendCommand, { idempotencyKey }: RunToolContext): SendCommand {
  return idempotencyKey === undefined ? command : { ...command, idempotencyKey }
}

function waitOf({ given, waitMs, maxWaitMs }: RunToolContext): number {
  if (given.wait === undefined) return waitMs
  const ms = durationMs(String(given.wait))
  if (ms !== null && ms <= maxWaitMs) return Math.ceil(ms)
  throw invalidValue('/wait', `must be a duration like "30s", at most ${maxWaitMs} ms`)
}

function check(name: string, given: unknown, ...issuesOf: ((value: string) => string | null)[]): string {
  const value = String(given)
  for (const issueOf of issuesOf) {
    const issue = issueOf(value)
    if (issue !== null) throw invalidValue(`/${name}`, issue)
  }
  return value
}
