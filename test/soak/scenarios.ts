/** What the clients of a soak do. Most scenarios start a workflow, send requests about it, and end it. */
import { setTimeout as pause } from 'node:timers/promises'
import type { SoakClient, SoakRequest } from './client.ts'
import type { Ledger, Reply, SentMessage, WorkflowRecord } from './ledger.ts'
import type { Random } from './random.ts'

export interface ScenarioContext {
  client: SoakClient
  random: Random
  ledger: Ledger
  /** Unique in the soak. */
  newId(): string
}

type Scenario = (context: ScenarioContext) => Promise<void>

const SCENARIOS: readonly [Scenario, ...Scenario[]] = [
  runMessages,
  runMessages,
  runMessages,
  runToResult,
  runToResult,
  runReads,
  runReads,
  runWithStart,
  runReset,
]

/** Runs random scenarios one after the other until `isOver`. The last one is not interrupted. */
export async function runScenarios(context: ScenarioContext, isOver: () => boolean): Promise<void> {
  while (!isOver()) await context.random.pick(SCENARIOS)(context)
}

/** A run with signals, updates, queries and reads, until it is ended in one of three ways. */
async function runMessages(context: ScenarioContext): Promise<void> {
  const { random, ledger, newId } = context
  const workflow = ledger.addWorkflow(newId())
  const withKey = random.chance(0.7)
  // Without a key, the repeat of a start whose response was lost finds its own run.
  const started = await context.client.sendUntilSure({
    endpoint: 'start',
    path: '/workflow/start',
    body: { workflowName: 'messages', input: null, workflowId: workflow.workflowId },
    ...(withKey && { headers: { 'Idempotency-Key': `start.${workflow.workflowId}` } }),
    expect: withKey ? [200] : [200, 409],
  })
  if (started?.body.runId === undefined) return ledger.violate(`${workflow.workflowId}: no response to its start`)
  workflow.startedRunIds.add(started.body.runId)
  for (let steps = random.below(8); steps > 0; steps--) await random.pick(STEPS)(context, workflow)
  await endMessages(context, workflow)
}

type Step = (context: ScenarioContext, workflow: WorkflowRecord) => Promise<unknown>

const STEPS: readonly [Step, ...Step[]] = [
  sendSignal,
  sendSignal,
  sendUpdate,
  sendUpdate,
  updateLater,
  queryState,
  pauseAndUnpause,
  waitInVain,
  ...['status', 'input', 'explain', 'history', 'trace-log'].map(
    (endpoint) =>
      ({ client }: ScenarioContext, { workflowId }: WorkflowRecord) =>
        client.send({ endpoint, path: `/workflow/${workflowId}/${endpoint}`, expect: [200] }),
  ),
  ({ client, random }, { workflowId }) =>
    client.send({
      endpoint: 'history/stream',
      path: `/workflow/${workflowId}/history/stream`,
      expect: [200],
      leaveAfterMs: 50 + random.below(500),
    }),
]

async function sendSignal(context: ScenarioContext, workflow: WorkflowRecord): Promise<void> {
  await sendMessage(context, workflow, 'signal', 'add', [200])
}

async function sendUpdate(context: ScenarioContext, workflow: WorkflowRecord): Promise<void> {
  await sendMessage(context, workflow, 'update', 'set', [200])
}

async function sendMessage(
  { client, random }: ScenarioContext,
  workflow: WorkflowRecord,
  kind: 'signal' | 'update',
  handler: string,
  expect: number[],
): Promise<void> {
  const message = addMessage(workflow, kind)
  const request: SoakRequest = {
    endpoint: kind,
    path: `/workflow/${workflow.workflowId}/${kind}/${handler}`,
    body: { payload: message.value },
    expect,
  }
  // Only a message with a key can be sent again.
  const withKey = { ...request, headers: { 'Idempotency-Key': message.value } }
  const reply = random.chance(0.7) ? await client.sendUntilSure(withKey) : await client.send(request)
  message.acknowledged = reply?.status === 200
}

function addMessage(workflow: WorkflowRecord, kind: SentMessage['kind']): SentMessage {
  const message: SentMessage = {
    kind,
    value: `${workflow.workflowId}.${workflow.messages.length}`,
    acknowledged: false,
  }
  workflow.messages.push(message)
  return message
}

async function updateLater({ client }: ScenarioContext, workflow: WorkflowRecord): Promise<void> {
  const message = addMessage(workflow, 'update')
  const accepted = await client.sendUntilSure({
    endpoint: 'update, respond-async',
    path: `/workflow/${workflow.workflowId}/update/set`,
    body: { payload: message.value },
    headers: { Prefer: 'respond-async', 'Idempotency-Key': message.value },
    expect: [200, 202],
  })
  if (accepted?.status !== 202) return
  message.acknowledged = true
  const { updateId } = accepted.body
  await client.sendUntilSure({
    endpoint: 'update outcome',
    path: `/workflow/${workflow.workflowId}/update/set/${encodeURIComponent(updateId)}?wait=10s`,
    expect: [200, 202],
  })
}

/** Shows every signal that was acknowledged before. */
async function queryState({ client, ledger }: ScenarioContext, workflow: WorkflowRecord): Promise<void> {
  const reply = await client.send({
    endpoint: 'query',
    method: 'POST',
    path: `/workflow/${workflow.workflowId}/query/state`,
    expect: [200],
  })
  if (reply?.status === 200) checkGathered(ledger, workflow, reply.body, 'query')
}

function checkGathered(ledger: Ledger, workflow: WorkflowRecord, state: { gathered: string[] }, where: string): void {
  for (const { kind, value, acknowledged } of workflow.messages) {
    if (kind !== 'signal') continue
    const times = state.gathered.filter((it) => it === value).length
    if (times > 1 || (acknowledged && times === 0))
      ledger.violate(`${workflow.workflowId}: signal "${value}" is ${times} times in the ${where}`)
  }
}

async function pauseAndUnpause({ client }: ScenarioContext, { workflowId }: WorkflowRecord): Promise<void> {
  const change = (endpoint: 'pause' | 'unpause', expect: number[]) =>
    client.sendUntilSure({ endpoint, path: `/workflow/${workflowId}/${endpoint}`, body: {}, expect })
  // 409: no worker has taken its workflow task.
  await change('pause', [200, 409])
  await change('unpause', [200])
}

async function waitInVain({ client, random }: ScenarioContext, { workflowId }: WorkflowRecord): Promise<void> {
  await client.send({
    endpoint: 'result?wait',
    path: `/workflow/${workflowId}/result?wait=1s`,
    expect: [408],
    ...(random.chance(0.3) && { leaveAfterMs: random.below(1000) }),
  })
}

async function endMessages(context: ScenarioContext, workflow: WorkflowRecord): Promise<void> {
  const { client, random, ledger } = context
  const { workflowId } = workflow
  const [endpoint, method, path] = random.pick([
    ['signal', 'POST', 'signal/finish'],
    ['terminate', 'POST', 'terminate'],
    ['stop', 'PATCH', 'stop'],
  ])
  const waits = awaitResult(client, workflowId)
  await pause(random.below(5000))
  await client.sendUntilSure({ endpoint, method, path: `/workflow/${workflowId}/${path}`, expect: [200, 409] })
  const reply = await waits
  if (reply?.status !== 200) return ledger.violate(`${workflowId}: no result (${reply?.status} ${reply?.text})`)
  workflow.finalStatus = reply.body.status
  if (reply.body.status === 'completed') checkGathered(ledger, workflow, reply.body.output, 'result')
}

function awaitResult(client: SoakClient, workflowId: string): Promise<Reply | null> {
  const path = `/workflow/${workflowId}/result?wait=20s`
  return untilEnded(client, { endpoint: 'result?wait', path, expect: [200, 408] })
}

/** Waits as long as it takes: a replica that shuts down ends its waits with 408. */
async function untilEnded(client: SoakClient, request: SoakRequest): Promise<Reply | null> {
  for (let turn = 1; ; turn++) {
    const reply = await client.sendUntilSure(request)
    if (reply?.status !== 408 || turn === 5) return reply
  }
}

/** `run`, whose client sometimes leaves and comes back with the same key. */
async function runToResult({ client, random, ledger, newId }: ScenarioContext): Promise<void> {
  const workflow = ledger.addWorkflow(newId())
  const links = 1 + random.below(3)
  const [workflowName, input, output] = random.pick<[string, unknown, unknown]>([
    ['echo', { id: workflow.workflowId }, { id: workflow.workflowId }],
    ['chain', { links }, { links, link: links }],
    ['manySteps', { n: 3 }, 3],
    ['sleepFor', { ms: 2000 }, 'slept'],
  ])
  const request: SoakRequest = {
    endpoint: 'run',
    path: '/workflow/run',
    body: { workflowName, input, workflowId: workflow.workflowId, timeout: '60s' },
    headers: { 'Idempotency-Key': `run.${workflow.workflowId}` },
    expect: [200, 408],
  }
  if (random.chance(0.3)) await client.send({ ...request, leaveAfterMs: random.below(1500) })
  const reply = await untilEnded(client, request)
  if (reply?.status !== 200) return ledger.violate(`${workflow.workflowId}: no result of run (${reply?.status})`)
  workflow.finalStatus = reply.body.status
  if (JSON.stringify(reply.body.output) !== JSON.stringify(output))
    ledger.violate(`${workflow.workflowId}: ${workflowName} returned ${reply.text}`)
}

const READS: readonly [SoakRequest, ...SoakRequest[]] = [
  { endpoint: 'list', path: '/workflow/runs?pageSize=20', expect: [200] },
  { endpoint: 'list', path: '/workflow/runs?status=running&workflowName=messages', expect: [200] },
  { endpoint: 'count', path: '/workflow/runs/count?groupBy=status', expect: [200] },
  { endpoint: 'catalog', path: '/workflow/catalog', expect: [200] },
  { endpoint: 'capabilities', path: '/capabilities', expect: [200] },
  { endpoint: 'health', path: '/health', expect: [200] },
  { endpoint: 'ready', path: '/ready', expect: [200] },
  { endpoint: 'status, unknown id', path: '/workflow/unknown/status', expect: [404] },
  { endpoint: 'unknown route', path: '/unknown', expect: [404] },
  { endpoint: 'run, invalid', path: '/workflow/run', body: { input: 1 }, expect: [400] },
  {
    endpoint: 'start, unknown name',
    path: '/workflow/start',
    body: { workflowName: 'unknown', input: 1 },
    expect: [424],
  },
]

async function runReads({ client, random }: ScenarioContext): Promise<void> {
  for (let reads = random.below(6); reads >= 0; reads--) await client.send(random.pick(READS))
}

/** Starts by a signal or by an update, and sends it again with the same key. */
async function runWithStart(context: ScenarioContext): Promise<void> {
  const { client, random, ledger, newId } = context
  const workflow = ledger.addWorkflow(newId())
  const kind = random.pick<SentMessage['kind']>(['signal', 'update'])
  const message = addMessage(workflow, kind)
  const endpoint = `${kind}-with-start`
  const request: SoakRequest = {
    endpoint,
    path: `/workflow/${endpoint}/${kind === 'signal' ? 'add' : 'set'}`,
    body: { workflowName: 'messages', input: null, workflowId: workflow.workflowId, payload: message.value },
    headers: { 'Idempotency-Key': message.value },
    expect: [200],
  }
  for (const reply of [await client.sendUntilSure(request), await client.sendUntilSure(request)]) {
    if (reply?.status !== 200) return ledger.violate(`${workflow.workflowId}: no response to ${endpoint}`)
    message.acknowledged = true
    workflow.startedRunIds.add(reply.body.runId)
  }
  await endMessages(context, workflow)
}

/** Resets a closed run to its last step; the new run ends like the first. */
async function runReset({ client, ledger, newId }: ScenarioContext): Promise<void> {
  const workflow = ledger.addWorkflow(newId())
  const { workflowId } = workflow
  const ran = await untilEnded(client, {
    endpoint: 'run',
    path: '/workflow/run',
    body: { workflowName: 'manySteps', input: { n: 3 }, workflowId, timeout: '60s' },
    headers: { 'Idempotency-Key': `run.${workflowId}` },
    expect: [200, 408],
  })
  if (ran?.status !== 200) return ledger.violate(`${workflowId}: no result of run`)
  const reset = await client.send({
    endpoint: 'reset',
    path: `/workflow/${workflowId}/runs/${ran.body.runId}/reset`,
    body: { stepName: 'step', reason: 'soak' },
    expect: [200],
  })
  workflow.isReset = true
  if (reset?.status === 200 && reset.body.runId === ran.body.runId)
    ledger.violate(`${workflowId}: reset made no new run`)
  const again = await awaitResult(client, workflowId)
  if (again?.status !== 200 || again.body.output !== 3) ledger.violate(`${workflowId}: after a reset ${again?.text}`)
  else workflow.finalStatus = again.body.status
}
