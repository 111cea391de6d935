/** Everything that the service declares, in each form: no change without its line in the audit log (threat 27). */
import type { Client } from '@temporalio/client'
import { expect } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { POLICY_VERBS } from '../../../src/shared/access/policy-verbs.ts'
import { createLimiter } from '../../../src/shared/lib/limiter.ts'
import { type Answer, makeApi } from '../../support/api.ts'
import { testCatalog } from '../../support/test-catalog.ts'
import { historyLengthOf, testWithCallers, tokenOf, tokenRule } from './callers.ts'
import { HOOK_SECRET, HOOKS, isDone, PUBLIC_URL, type Sent, STEPS, type Step, type Target } from './walk.ts'

const WORKFLOWS = testCatalog.workflows.map(({ name }) => name)
const ID = crypto.randomUUID()

// Each step has a caller and ids of its own, so that it is known what it has done.
const keyOf = (n: number) => `${ID}-${n}.`
const prefixesOf = (n: number) => [keyOf(n), `hook:${keyOf(n)}`]
const RULES = STEPS.map(({ isTyped }, n) =>
  tokenRule(`c${n}`, {
    ...{ can: ['*'], ids: prefixesOf(n).map((prefix) => `${prefix}*`), catalogs: ['*'], options: ['*'] },
    ...(isTyped && { workflows: WORKFLOWS }),
  }),
)

const test = testWithCallers(RULES, {
  SERVICE_POLICY: JSON.stringify({ version: 1, rules: RULES, hooks: HOOKS }),
  SERVICE_HOOK_TOKEN: HOOK_SECRET,
  SERVICE_PUBLIC_URL: PUBLIC_URL,
  SERVICE_METRICS_ON: 'true',
  SERVICE_DOCS_ON: 'true',
  SERVICE_CONSOLE_ON: 'true',
  // For a run that a start has found, and that does not end.
  SERVICE_RUN_MAX_TIMEOUT: '2s',
}).override('workerOptions', () => ({
  catalog: testCatalog,
  workflowsPath: new URL('./audited-workflows.ts', import.meta.url),
}))

// The dev server and the worker do the work, too.
const AT_ONCE = 8

const HOW_TO_ADD = 'cannot be called. Add what it needs to walk.ts, or its body to BODIES (test/faults/endpoints.ts)'
const READS = ['read', 'list', 'query', 'metrics']

interface AuditLine {
  message: string
  caller: string | null
  action: string
  workflowId?: string
}

test('each change by each endpoint, method and tool, in each form, is an audit line with its action (threat 27)', async ({
  startCallers,
  client,
  catalog,
}) => {
  const { service, operator } = await startCallers()
  const lines: AuditLine[] = []
  service.onLine((line) => lines.push(JSON.parse(line)))
  const limit = createLimiter(AT_ONCE)

  const sent = await Promise.all(
    STEPS.map((step, n) =>
      limit(async () => {
        const request = await step.request(await startTarget(client, step, { key: keyOf(n), catalog }), operator)
        return { n, step, answer: await send(request, service, tokenOf(`c${n}`)) }
      }),
    ),
  )
  await operator.start('nothing', null, { workflowId: `${ID}-last` })
  await until('all runs are listed', async () => (await runsOf(client, `${ID}-last`)).length > 0)

  const audited = lines.filter(({ message, caller }) => message === 'audit' && caller !== 'operator')
  const wrong = sent.map(async ({ n, step, answer }) => {
    if (step.isPlain && !isDone(answer)) return `${step.name} ${HOW_TO_ADD}: ${answer.text.slice(0, 300)}`
    const runs = (await Promise.all(prefixesOf(n).map((prefix) => runsOf(client, prefix)))).flat()
    const changes = (await Promise.all(runs.map((run) => changesIn(client, run)))).flat()
    const found = compare(changes, audited.filter(isOf(n)), answer)
    return found.length === 0 ? null : `${step.name}: ${found.join(', ')}`
  })
  expect((await Promise.all(wrong)).filter((one) => one !== null)).toEqual([])
  const seen = new Set(audited.map(({ action }) => action.split(':', 1)[0]))
  expect(POLICY_VERBS.filter((verb) => !seen.has(verb))).toEqual(READS)
})

async function startTarget(client: Client, { workflowName }: Step, own: Pick<Target, 'key' | 'catalog'>) {
  const args = workflowName === 'asksInTurns' ? [] : [{ retryInterval: '1h' }]
  const options = { taskQueue: own.catalog, workflowId: `${own.key}run`, args }
  const { workflowId, firstExecutionRunId: runId } = await client.workflow.start(workflowName, options)
  await historyLengthOf(client, workflowId)
  return { ...own, workflowId, runId }
}

type Fetch = (request: Request) => Promise<Response>

function send({ method, path, body, headers, isEndless }: Sent, service: { fetch: Fetch }, token: string) {
  const fetch: Fetch = async (request) => (isEndless ? onlyFirst(await service.fetch(request)) : service.fetch(request))
  return makeApi({ fetch, token }).call(method, path, body, headers)
}

/** The response with its first part alone. Then its client leaves. */
async function onlyFirst({ body, status, headers }: Response): Promise<Response> {
  const reader = body?.getReader()
  const first = await reader?.read()
  await reader?.cancel()
  return new Response(first?.value, { status, headers })
}

const isOf =
  (n: number) =>
  ({ caller, workflowId = '' }: AuditLine) =>
    caller === `token:c${n}` || prefixesOf(n).some((prefix) => workflowId.startsWith(prefix))

/** These are not events of a history, and a start that finds a run is still a start. */
const WITHOUT_EVENT = /^(?:activity(?::.*)?|batch|delegate|link|complete:.*|repair:.*|schedule|start)$/

/** The changes without a line, and the lines without a change. */
function compare(changes: string[], lines: AuditLine[], answer: Answer): string[] {
  const actions = lines.map(({ action }) => action)
  const undone = isDone(answer) ? without(actions, changes).filter((action) => !WITHOUT_EVENT.test(action)) : []
  return [
    ...without(changes, actions).map((change) => `the change ${change} has no line`),
    ...undone.map((action) => `the line ${action} has no change`),
  ]
}

async function runsOf(client: Client, prefix: string) {
  const runs: { workflowId: string; runId: string }[] = []
  for await (const run of client.workflow.list({ query: `WorkflowId STARTS_WITH '${prefix}'` })) runs.push(run)
  return runs
}

/** The items of `all` that are not in `others`, each as often as it is missing there. */
function without(all: readonly string[], others: readonly string[]): string[] {
  const left = [...others]
  return all.filter((item) => {
    const at = left.indexOf(item)
    if (at !== -1) left.splice(at, 1)
    return at === -1
  })
}

/** The attributes of an event of a history, as far as they say who has done what. */
interface Attributes {
  identity?: string
  acceptedRequest?: { meta?: { identity?: string }; input?: { name?: string } }
  signalName?: string
  scheduledEventId?: unknown
  activityType?: { name?: string }
  baseRunId?: string
  continuedExecutionRunId?: string
}

/** The action of each event that a request causes. */
const ACTIONS: Readonly<Record<string, (attributes: Attributes, activityType: string) => string>> = {
  workflowExecutionStarted: () => 'start',
  workflowExecutionSignaled: ({ signalName }) => `signal:${signalName}`,
  workflowExecutionUpdateAccepted: ({ acceptedRequest }) => `update:${acceptedRequest?.input?.name}`,
  workflowExecutionCancelRequested: () => 'stop',
  workflowExecutionTerminated: () => 'terminate',
  workflowExecutionPaused: () => 'pause',
  workflowExecutionUnpaused: () => 'pause',
  workflowTaskFailed: () => 'reset',
  workflowExecutionOptionsUpdated: () => 'repair',
  activityTaskCompleted: (_, type) => `complete:${type}`,
  activityTaskCanceled: (_, type) => `complete:${type}`,
  activityTaskFailed: (_, type) => `complete:${type}`,
}

/** What others than the operator, the worker and the run itself have done, as the audit log names it. */
async function changesIn(client: Client, run: { workflowId: string; runId: string }): Promise<string[]> {
  const { events } = await client.workflow.getHandle(run.workflowId, run.runId).fetchHistory()
  const types = new Map<string, string>()
  return (events ?? []).flatMap((event) => {
    const found = Object.entries(event).find(([name]) => name.endsWith('EventAttributes'))
    const [name = '', attributes = {}] = (found ?? []) as [string?, Attributes?]
    if (attributes.activityType) types.set(String(event.eventId), attributes.activityType.name ?? '')
    if (!isRequested(attributes)) return []
    const kind = name.replace(/EventAttributes$/, '')
    const type = types.get(String(attributes.scheduledEventId)) ?? ''
    return [ACTIONS[kind]?.(attributes, type) ?? `${kind} (add it to ACTIONS)`]
  })
}

function isRequested({ identity, acceptedRequest, baseRunId, continuedExecutionRunId }: Attributes): boolean {
  if (continuedExecutionRunId) return false
  const by = identity ?? acceptedRequest?.meta?.identity ?? ''
  // The engine itself writes that a run was reset, or terminated by a start.
  return Boolean(baseRunId) || by === 'history-service' || (by.startsWith('portico ') && by !== 'portico operator')
}
