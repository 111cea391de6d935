import { expect, test } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { publishRaw } from '../../support/hostile-catalogs.ts'
import { hostileWorkflows, hostileWorkflowsOf } from '../../support/hostile-workflows.ts'
import { rule } from '../../support/rules.ts'
import { type ApiFixture, AUTHORIZED, anId, startMessages } from './api-fixture.ts'

const VERSION = '2026-07-28'

const TASKS = { extensions: { 'io.modelcontextprotocol/tasks': {} } }

interface SentOptions {
  path?: string
  headers?: Record<string, string>
  /** Of the client. Default: none. */
  capabilities?: object
  signal?: AbortSignal
}

/** POST /mcp, on the wire: official clients are in test/clients/. */
export function mcp(api: () => ApiFixture): void {
  function send(body: unknown, { path = '/mcp', headers = {}, signal }: SentOptions = {}): Promise<Response> {
    return fetch(`${api().service.url}${path}`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        ...AUTHORIZED,
        ...headers,
      },
      body: JSON.stringify(body),
      ...(signal && { signal }),
    })
  }

  /** All messages of the answer, with its status. */
  async function messagesOf(response: Response): Promise<{ status: number; messages: Message[] }> {
    const text = await response.text()
    const isStream = response.headers.get('Content-Type') === 'text/event-stream'
    const parts = isStream ? [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => data) : [text]
    return { status: response.status, messages: parts.map((part) => JSON.parse(part)) }
  }

  async function legacy(method: string, params: object = {}, options: SentOptions = {}) {
    return messagesOf(await send({ jsonrpc: '2.0', id: 1, method, params }, options))
  }

  function sendModern(method: string, params: Record<string, unknown> = {}, options: SentOptions = {}) {
    const { capabilities = {}, headers } = options
    const name = params.name ?? params.taskId
    const meta = {
      'io.modelcontextprotocol/protocolVersion': VERSION,
      'io.modelcontextprotocol/clientCapabilities': capabilities,
    }
    const body = {
      jsonrpc: '2.0',
      id: 1,
      method,
      params: { ...params, _meta: { ...meta, ...Object(params._meta) } },
    }
    const own = {
      'MCP-Protocol-Version': VERSION,
      'Mcp-Method': method,
      ...(typeof name === 'string' && { 'Mcp-Name': name }),
    }
    return send(body, { ...options, headers: { ...own, ...headers } })
  }

  async function modern(method: string, params?: Record<string, unknown>, options?: SentOptions) {
    return messagesOf(await sendModern(method, params, options))
  }

  async function resultOf(answer: Promise<{ messages: Message[] }>) {
    const { messages } = await answer
    return messages.at(-1)?.result
  }

  const callLegacy = (name: string, given: object, options?: SentOptions) =>
    resultOf(legacy('tools/call', { name, arguments: given }, options))

  rule('mcp.serves-both-eras', async () => {
    const { service } = api()
    const initialized = await resultOf(legacy('initialize', { protocolVersion: '2025-06-18' }))
    const older = await resultOf(legacy('tools/list'))
    const discovered = await resultOf(modern('server/discover'))
    const newer = await resultOf(modern('tools/list'))
    // Recorded as a response of the API.
    const checked = await service.call('POST', '/mcp', { jsonrpc: '2.0', id: 1, method: 'ping' })

    expect([initialized.protocolVersion, discovered.supportedVersions]).toEqual(['2025-06-18', [VERSION]])
    expect(newer).toMatchObject({ resultType: 'complete', tools: older.tools, cacheScope: 'private' })
    expect(checked.body).toEqual({ jsonrpc: '2.0', id: 1, result: {} })
    const names: string[] = older.tools.map(({ name }: { name: string }) => name)
    expect(names).toEqual(expect.arrayContaining(['echo', 'sleepFor', 'workflow_result', 'workflow_runs']))
  })

  rule('mcp.calls-workflows', async () => {
    const completed = await callLegacy('sleepFor', { ms: 1 })
    const wrapped = await resultOf(modern('tools/call', { name: 'echo', arguments: { input: ['a', 1] } }))
    const failed = await callLegacy('failRetryable', {})
    const rejected = await callLegacy('sleepFor', { ms: 'long' })

    expect(completed).toMatchObject({
      content: [{ type: 'text' }, { type: 'text' }],
      structuredContent: { status: 'completed', output: expect.any(String), runId: expect.any(String) },
    })
    expect([completed.isError, completed.resultType]).toEqual([undefined, undefined])
    expect(wrapped).toMatchObject({ resultType: 'complete', structuredContent: { output: ['a', 1] } })
    expect(failed).toMatchObject({
      isError: true,
      structuredContent: { status: 'failed', error: { name: expect.any(String), message: expect.any(String) } },
    })
    expect(rejected).toMatchObject({
      isError: true,
      structuredContent: { status: 'rejected', error: { name: 'ValidationError', issues: [{ path: '/ms' }] } },
    })
  })

  test('mcp: an alias is not listed, but can be called', async () => {
    const { structuredContent } = await callLegacy('parrot', { input: 'here' })

    expect(structuredContent).toMatchObject({ status: 'completed', output: 'here' })
  })

  rule('mcp.long-runs-stream-progress', async () => {
    const { service } = api()
    const params = { name: 'neverEnds', arguments: {}, _meta: { progressToken: 'p' } }

    const { messages } = await legacy('tools/call', params, { path: '/mcp?wait=2s' })
    const [progress] = messages
    const { structuredContent, isError } = messages.at(-1)?.result ?? {}
    const { workflowId, runId } = structuredContent
    const stopped = await callLegacy('workflow_stop', { workflowId, runId, reason: 'a test' })
    const ended = await callLegacy('workflow_result', { workflowId, wait: '30s' })

    expect(progress).toMatchObject({
      method: 'notifications/progress',
      params: { progressToken: 'p', message: expect.stringContaining(`workflow ${workflowId}, run ${runId}`) },
    })
    expect([structuredContent.status, isError]).toEqual(['running', undefined])
    expect(structuredContent.note).toContain('workflow_result')
    expect(stopped.structuredContent).toMatchObject({ workflowId, runId, cancelRequested: true })
    expect(ended).toMatchObject({ isError: true, structuredContent: { workflowId, status: 'canceled' } })
    expect((await service.get(`${workflowId}/status`)).body.status).toBe('canceled')
  })

  rule('mcp.disconnects-never-stop-a-workflow', async () => {
    const { service } = api()
    const client = new AbortController()
    const params = { name: 'sleepFor', arguments: { ms: 3000 }, _meta: { progressToken: 'p' } }
    const response = await send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }, { signal: client.signal })
    const reader = (response.body ?? new ReadableStream<Uint8Array<ArrayBuffer>>())
      .pipeThrough(new TextDecoderStream())
      .getReader()
    let text = ''
    while (!text.includes('notifications/progress')) text += (await reader.read()).value ?? ''
    client.abort()
    const [, workflowId = ''] = /workflow ([^,]+), run/.exec(text) ?? []

    const { body } = await service.get(`${workflowId}/result?wait=30s`)

    expect(body.status).toBe('completed')
  })

  rule('mcp.a-key-starts-one-run', async () => {
    const key = anId()
    const call = () => callLegacy('echo', { input: key, args: undefined }, { headers: { 'Idempotency-Key': key } })
    const ofMeta = resultOf(
      modern('tools/call', {
        name: 'echo',
        arguments: { input: key },
        _meta: { 'portico/idempotencyKey': key },
      }),
    )

    const results = [await call(), await call(), await ofMeta]
    const other = await callLegacy('echo', { input: 'other' }, { headers: { 'Idempotency-Key': key } })

    expect(new Set(results.map(({ structuredContent }) => structuredContent.runId)).size).toBe(1)
    expect(other).toMatchObject({ isError: true, structuredContent: { error: { name: 'IdempotencyKeyReusedError' } } })
  })

  test('mcp: the tools for runs explain, query, signal, update and list', async () => {
    const { workflowId, runId } = await startMessages(api())

    const explained = await callLegacy('workflow_explain', { workflowId })
    const signaled = await callLegacy('workflow_signal', { workflowId, signal: 'add', payload: 'one' })
    const updated = await callLegacy('workflow_update', { workflowId, runId, update: 'set', payload: 2 })
    const invalid = await callLegacy('workflow_update', { workflowId, update: 'validated', payload: 'two' })
    const state = await callLegacy('workflow_query', { workflowId, query: 'state' })
    const listed = await until('the run is listed', async () => {
      const { structuredContent } = await callLegacy('workflow_runs', { workflowName: 'messages', status: 'running' })
      return structuredContent.runs.find((run: { runId: string }) => run.runId === runId)
    })
    await callLegacy('workflow_signal', { workflowId, signal: 'finish' })
    const ended = await callLegacy('workflow_result', { workflowId, runId })

    expect(explained.structuredContent).toMatchObject({ workflowId, runId, verdict: 'waiting_handler' })
    expect(signaled.structuredContent).toMatchObject({ workflowId, runId, signal: 'add', accepted: true })
    expect(updated.structuredContent).toMatchObject({ workflowId, runId, update: 'set' })
    expect(invalid.structuredContent).toMatchObject({ status: 'rejected', error: { issues: [{ path: '/payload' }] } })
    expect(state.structuredContent.result).toMatchObject({ value: 2 })
    expect(listed).toMatchObject({ workflowId, workflowName: 'messages' })
    expect(ended.structuredContent).toMatchObject({ status: 'completed', output: { value: 2 } })
  })

  rule('mcp.long-runs-are-tasks', async () => {
    const created = await resultOf(
      modern('tools/call', { name: 'sleepFor', arguments: { ms: 3000 } }, { capabilities: TASKS }),
    )
    const { taskId } = created
    const get = () => resultOf(modern('tasks/get', { taskId }, { capabilities: TASKS }))
    const working = await get()
    const completed = await until('the task has ended', async () => {
      const task = await get()
      return task.status === 'completed' && task
    })
    const withoutTasks = await modern('tasks/get', { taskId })
    const unknown = await modern('tasks/get', { taskId: 'nothing' }, { capabilities: TASKS })

    expect(created).toMatchObject({ resultType: 'task', status: 'working', ttlMs: null, pollIntervalMs: 1000 })
    expect(working).toMatchObject({ resultType: 'complete', taskId, status: 'working' })
    expect(completed.result).toMatchObject({
      resultType: 'complete',
      structuredContent: { status: 'completed', output: expect.any(String) },
    })
    expect([withoutTasks.status, withoutTasks.messages[0]?.error.code]).toEqual([400, -32_021])
    expect([unknown.status, unknown.messages[0]?.error.code]).toEqual([200, -32_602])
  })

  test('mcp: a canceled task lets its workflow clean up', async () => {
    const { taskId } = await resultOf(
      modern('tools/call', { name: 'cleansUp', arguments: { input: { ms: 200 } } }, { capabilities: TASKS }),
    )
    const acknowledged = await resultOf(modern('tasks/cancel', { taskId }, { capabilities: TASKS }))

    const task = await until('the task has ended', async () => {
      const task = await resultOf(modern('tasks/get', { taskId }, { capabilities: TASKS }))
      return task.status !== 'working' && task
    })

    expect([acknowledged, task.status]).toEqual([{ resultType: 'complete' }, 'cancelled'])
  })

  test('mcp: a subscription sends the task that has ended', async () => {
    const { taskId } = await resultOf(
      modern('tools/call', { name: 'sleepFor', arguments: { ms: 2000 } }, { capabilities: TASKS }),
    )
    const client = new AbortController()
    const response = await sendModern(
      'subscriptions/listen',
      { notifications: { taskIds: [taskId], toolsListChanged: true } },
      { capabilities: TASKS, signal: client.signal },
    )
    const reader = (response.body ?? new ReadableStream<Uint8Array<ArrayBuffer>>())
      .pipeThrough(new TextDecoderStream())
      .getReader()
    let text = ''
    while (!text.includes('notifications/tasks"')) text += (await reader.read()).value ?? ''
    client.abort()

    const [acknowledged, task] = [...text.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data))
    expect(acknowledged.params).toEqual({
      notifications: { toolsListChanged: true, taskIds: [taskId] },
      _meta: { 'io.modelcontextprotocol/subscriptionId': 1 },
    })
    expect(task.params).toMatchObject({ taskId, status: 'completed', result: { resultType: 'complete' } })
  })

  test('mcp: what the protocol does not allow has a status of its own', async () => {
    const { service } = api()
    const other = { 'Mcp-Method': 'tools/list' }

    const answers = [
      await messagesOf(await send([])),
      await modern('server/discover', {}, { headers: other }),
      await modern('prompts/list'),
      await legacy('prompts/list'),
      await legacy('tools/call', { name: 'toString' }),
    ]
    const get = await service.call('GET', '/mcp')
    const notification = await send({ jsonrpc: '2.0', method: 'notifications/initialized' })

    expect(answers.map(({ status, messages: [message] }) => [status, message?.error.code])).toEqual([
      [400, -32_600],
      [400, -32_020],
      [404, -32_601],
      [200, -32_601],
      [200, -32_602],
    ])
    expect([get.status, get.headers.get('Allow'), notification.status, await notification.text()]).toEqual([
      405,
      'POST',
      202,
      '',
    ])
  })

  test('mcp: needs a credential, and says so to its clients', async () => {
    const { url } = api().service
    const withoutToken = await fetch(`${url}/mcp`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: '{}',
    })
    const discovery = await fetch(`${url}/.well-known/oauth-protected-resource/mcp`)

    expect([withoutToken.status, withoutToken.headers.get('WWW-Authenticate')]).toEqual([401, 'Bearer realm="portico"'])
    expect(discovery.status).toBe(404)
    await Promise.all([withoutToken.body?.cancel(), discovery.body?.cancel()])
  })

  rule('mcp.offers-every-workflow-to-every-host', async () => {
    const { service, hasGap } = api()
    const catalog = `hostile-${crypto.randomUUID()}`
    const names = hostileWorkflows().map(({ name }) => name)
    await publishRaw(hostileWorkflowsOf(catalog))
    const path = `/mcp/${catalog}`
    // Recorded as a response of the API.
    const { body } = await service.call('POST', path, { jsonrpc: '2.0', id: 1, method: 'tools/list' })
    const tools: ListedTool[] = body.result.tools
    const ofWorkflows = tools.filter(({ name }) => !name.startsWith('workflow_'))

    expect(ofWorkflows).toHaveLength(names.length)
    expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length)
    expect(tools.filter(({ name }) => !/^[A-Za-z][A-Za-z0-9_-]{0,47}$/.test(name))).toEqual([])
    expect(ofWorkflows.map(({ name, title = name }) => title)).toEqual(names)
    expect(tools.filter(({ description = '' }) => description.length > 1024)).toEqual([])
    expect(
      tools.flatMap(({ inputSchema, outputSchema = inputSchema }) => [inputSchema, outputSchema]).filter(isBad),
    ).toEqual([])
    if (hasGap('slashes')) return
    // Nothing executes it.
    const spaced = ofWorkflows.find(({ title }) => title === 'a b')?.name
    const called = await callLegacy(spaced ?? '', {}, { path: `${path}?wait=1ms` })
    const { workflowId } = called.structuredContent
    expect((await service.get(`${workflowId}/status`)).body).toMatchObject({ workflowName: 'a b', catalog })
    await service.post(`${workflowId}/terminate`)
  })
}

// biome-ignore lint/suspicious/noExplicitAny: an assertion says what it should be
type Message = any

interface ListedTool {
  name: string
  title?: string
  description?: string
  inputSchema: Record<string, unknown>
  outputSchema?: Record<string, unknown>
}

const NOT_AT_ROOT = ['anyOf', 'oneOf', 'allOf', 'not', 'enum', 'const', 'if', '$ref']

/** Whether some host rejects the tool, or all of them. */
function isBad(schema: Record<string, unknown>): boolean {
  const { type, properties, ...others } = schema
  const text = JSON.stringify(schema)
  const references = [...text.matchAll(/"\$ref":"([^"]*)"/g)].map(([, reference = '']) => reference)
  const { $defs } = others as { $defs?: object }
  const dangling = references.some((reference) => !Object.hasOwn($defs ?? {}, reference.replace('#/$defs/', '')))
  const badKey = Object.keys(Object(properties)).some((key) => !/^[a-zA-Z0-9_.-]{1,64}$/.test(key))
  return type !== 'object' || NOT_AT_ROOT.some((keyword) => keyword in others) || dangling || badKey
}
