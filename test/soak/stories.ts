/** What the clients of a soak do. Each story starts a workflow, does something with it, and ends it. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Ask, SoakClient } from './client.ts'
import type { Ledger, Reply, SentMessage, Story } from './ledger.ts'
import type { Random } from './random.ts'

export interface Stage {
  client: SoakClient
  random: Random
  ledger: Ledger
  /** Unique in the soak. */
  newId(): string
}

type Teller = (stage: Stage) => Promise<void>

const STORIES: readonly [Teller, ...Teller[]] = [
  tellOfMessages,
  tellOfMessages,
  tellOfMessages,
  tellOfRun,
  tellOfRun,
  tellOfReads,
  tellOfReads,
  tellOfWithStart,
  tellOfReset,
]

/** Tells random stories until `isOver`. Ends after the story that is being told. */
export async function tellStories(stage: Stage, isOver: () => boolean): Promise<void> {
  while (!isOver()) await stage.random.pick(STORIES)(stage)
}

/** A run with signals, updates, queries and reads, until it is ended in one of three ways. */
async function tellOfMessages(stage: Stage): Promise<void> {
  const { random, ledger, newId } = stage
  const story = ledger.addStory(newId())
  const withKey = random.chance(0.7)
  // Without a key, the repeat of a start whose response was lost finds its own run.
  const started = await stage.client.sendUntilSure({
    endpoint: 'start',
    path: '/workflow/start',
    body: { workflowName: 'messages', input: null, workflowId: story.workflowId },
    ...(withKey && { headers: { 'Idempotency-Key': `start.${story.workflowId}` } }),
    expect: withKey ? [200] : [200, 409],
  })
  if (started?.body.runId === undefined) return ledger.violate(`${story.workflowId}: no response to its start`)
  story.startedRunIds.add(started.body.runId)
  for (let steps = random.below(8); steps > 0; steps--) await random.pick(STEPS)(stage, story)
  await endMessages(stage, story)
}

type Step = (stage: Stage, story: Story) => Promise<unknown>

const STEPS: readonly [Step, ...Step[]] = [
  sendSignal,
  sendSignal,
  sendUpdate,
  sendUpdate,
  updateLater,
  queryState,
  pauseAndGoOn,
  waitInVain,
  ...['status', 'input', 'explain', 'history', 'trace-log'].map(
    (endpoint) =>
      ({ client }: Stage, { workflowId }: Story) =>
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

async function sendSignal(stage: Stage, story: Story): Promise<void> {
  await sendMessage(stage, story, 'signal', 'add', [200])
}

async function sendUpdate(stage: Stage, story: Story): Promise<void> {
  await sendMessage(stage, story, 'update', 'set', [200])
}

async function sendMessage(
  { client, random }: Stage,
  story: Story,
  kind: 'signal' | 'update',
  handler: string,
  expect: number[],
): Promise<void> {
  const message = addMessage(story, kind)
  const ask: Ask = {
    endpoint: kind,
    path: `/workflow/${story.workflowId}/${kind}/${handler}`,
    body: { payload: message.value },
    expect,
  }
  // Only a message with a key can be sent again.
  const withKey = { ...ask, headers: { 'Idempotency-Key': message.value } }
  const reply = random.chance(0.7) ? await client.sendUntilSure(withKey) : await client.send(ask)
  message.acknowledged = reply?.status === 200
}

function addMessage(story: Story, kind: SentMessage['kind']): SentMessage {
  const message: SentMessage = { kind, value: `${story.workflowId}.${story.messages.length}`, acknowledged: false }
  story.messages.push(message)
  return message
}

async function updateLater({ client }: Stage, story: Story): Promise<void> {
  const message = addMessage(story, 'update')
  const accepted = await client.sendUntilSure({
    endpoint: 'update, respond-async',
    path: `/workflow/${story.workflowId}/update/set`,
    body: { payload: message.value },
    headers: { Prefer: 'respond-async', 'Idempotency-Key': message.value },
    expect: [200, 202],
  })
  if (accepted?.status !== 202) return
  message.acknowledged = true
  const { updateId } = accepted.body
  await client.sendUntilSure({
    endpoint: 'update outcome',
    path: `/workflow/${story.workflowId}/update/set/${encodeURIComponent(updateId)}?wait=10s`,
    expect: [200, 202],
  })
}

/** Shows every signal that was acknowledged before. */
async function queryState({ client, ledger }: Stage, story: Story): Promise<void> {
  const reply = await client.send({
    endpoint: 'query',
    method: 'POST',
    path: `/workflow/${story.workflowId}/query/state`,
    expect: [200],
  })
  if (reply?.status === 200) checkGathered(ledger, story, reply.body, 'query')
}

function checkGathered(ledger: Ledger, story: Story, state: { gathered: string[] }, where: string): void {
  for (const { kind, value, acknowledged } of story.messages) {
    if (kind !== 'signal') continue
    const times = state.gathered.filter((it) => it === value).length
    if (times > 1 || (acknowledged && times === 0))
      ledger.violate(`${story.workflowId}: signal "${value}" is ${times} times in the ${where}`)
  }
}

async function pauseAndGoOn({ client }: Stage, { workflowId }: Story): Promise<void> {
  const change = (endpoint: 'pause' | 'unpause', expect: number[]) =>
    client.sendUntilSure({ endpoint, path: `/workflow/${workflowId}/${endpoint}`, body: {}, expect })
  // 409: no worker has taken its workflow task.
  await change('pause', [200, 409])
  await change('unpause', [200])
}

async function waitInVain({ client, random }: Stage, { workflowId }: Story): Promise<void> {
  await client.send({
    endpoint: 'result?wait',
    path: `/workflow/${workflowId}/result?wait=1s`,
    expect: [408],
    ...(random.chance(0.3) && { leaveAfterMs: random.below(1000) }),
  })
}

async function endMessages(stage: Stage, story: Story): Promise<void> {
  const { client, random, ledger } = stage
  const { workflowId } = story
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
  story.final = reply.body
  if (reply.body.status === 'completed') checkGathered(ledger, story, reply.body.output, 'result')
}

function awaitResult(client: SoakClient, workflowId: string): Promise<Reply | null> {
  const path = `/workflow/${workflowId}/result?wait=20s`
  return untilEnded(client, { endpoint: 'result?wait', path, expect: [200, 408] })
}

/** Waits as long as it takes: a replica that shuts down ends its waits with 408. */
async function untilEnded(client: SoakClient, ask: Ask): Promise<Reply | null> {
  for (let turn = 1; ; turn++) {
    const reply = await client.sendUntilSure(ask)
    if (reply?.status !== 408 || turn === 5) return reply
  }
}

/** `run`, whose client sometimes leaves and comes back with the same key. */
async function tellOfRun({ client, random, ledger, newId }: Stage): Promise<void> {
  const story = ledger.addStory(newId())
  const links = 1 + random.below(3)
  const [workflowName, input, output] = random.pick<[string, unknown, unknown]>([
    ['echo', { id: story.workflowId }, { id: story.workflowId }],
    ['chain', { links }, { links, link: links }],
    ['manySteps', { n: 3 }, 3],
    ['sleepFor', { ms: 2000 }, 'slept'],
  ])
  const ask: Ask = {
    endpoint: 'run',
    path: '/workflow/run',
    body: { workflowName, input, workflowId: story.workflowId, timeout: '60s' },
    headers: { 'Idempotency-Key': `run.${story.workflowId}` },
    expect: [200, 408],
  }
  if (random.chance(0.3)) await client.send({ ...ask, leaveAfterMs: random.below(1500) })
  const reply = await untilEnded(client, ask)
  if (reply?.status !== 200) return ledger.violate(`${story.workflowId}: no result of run (${reply?.status})`)
  story.final = reply.body
  if (JSON.stringify(reply.body.output) !== JSON.stringify(output))
    ledger.violate(`${story.workflowId}: ${workflowName} returned ${reply.text}`)
}

const READS: readonly [Ask, ...Ask[]] = [
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

async function tellOfReads({ client, random }: Stage): Promise<void> {
  for (let reads = random.below(6); reads >= 0; reads--) await client.send(random.pick(READS))
}

/** Starts by a signal or by an update, and sends it again with the same key. */
async function tellOfWithStart(stage: Stage): Promise<void> {
  const { client, random, ledger, newId } = stage
  const story = ledger.addStory(newId())
  const kind = random.pick<SentMessage['kind']>(['signal', 'update'])
  const message = addMessage(story, kind)
  const endpoint = `${kind}-with-start`
  const ask: Ask = {
    endpoint,
    path: `/workflow/${endpoint}/${kind === 'signal' ? 'add' : 'set'}`,
    body: { workflowName: 'messages', input: null, workflowId: story.workflowId, payload: message.value },
    headers: { 'Idempotency-Key': message.value },
    expect: [200],
  }
  for (const reply of [await client.sendUntilSure(ask), await client.sendUntilSure(ask)]) {
    if (reply?.status !== 200) return ledger.violate(`${story.workflowId}: no response to ${endpoint}`)
    message.acknowledged = true
    story.startedRunIds.add(reply.body.runId)
  }
  await endMessages(stage, story)
}

/** Resets a closed run to its last step; the new run ends like the first. */
async function tellOfReset({ client, ledger, newId }: Stage): Promise<void> {
  const story = ledger.addStory(newId())
  const { workflowId } = story
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
  story.isReset = true
  if (reset?.status === 200 && reset.body.runId === ran.body.runId)
    ledger.violate(`${workflowId}: reset made no new run`)
  const again = await awaitResult(client, workflowId)
  if (again?.status !== 200 || again.body.output !== 3) ledger.violate(`${workflowId}: after a reset ${again?.text}`)
  else story.final = again.body
}
