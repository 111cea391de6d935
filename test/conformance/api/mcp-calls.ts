import { expect, test } from 'vitest'
import { until } from '../../../src/cli/dev/servers/until.ts'
import { rule } from '../../support/rules.ts'
import { type ApiFixture, anId, startMessages } from './api-fixture.ts'
import { mcpMessages, readUntil } from './mcp-messages.ts'

/** Calls of tools, from clients that cannot handle tasks. */
export function mcpCalls(api: () => ApiFixture): void {
  const { send, legacy, modern, resultOf, callLegacy } = mcpMessages(api)

  rule('mcp.calls-workflows', async () => {
    const completed = await callLegacy('sleepFor', { ms: 1 })
    const wrapped = await resultOf(modern('tools/call', { name: 'echo', arguments: { input: ['a', 1] } }))
    const failed = await callLegacy('failRetryable', {})
    const rejected = await callLegacy('sleepFor', { ms: 'long' })
    const missing = await callLegacy('sleepFor', {})

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
    expect(missing.structuredContent.error.issues).toEqual([{ path: '/ms', message: 'is required' }])
  })

  test('mcp: a workflow gets the numbers of its arguments with all digits', async () => {
    const { service } = api()
    const { structuredContent } = await callLegacy('echo', { input: JSON.rawJSON('9007199254740993') })

    const { text } = await service.get(`${structuredContent.workflowId}/input`)

    expect(text).toContain('9007199254740993')
  })

  test('mcp: an alias is not listed, but can be called', async () => {
    const { structuredContent } = await callLegacy('parrot', { input: 'here' })

    expect(structuredContent).toMatchObject({ status: 'completed', output: 'here' })
  })

  rule('mcp.long-runs-stream-progress', async () => {
    const { service } = api()
    const params = { name: 'neverEnds', arguments: {}, _meta: { progressToken: 'p' } }

    // The first progress names the reason, which the engine of a busy machine needs time for.
    const { messages } = await legacy('tools/call', params, { path: '/mcp?wait=10s' })
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
    const params = { name: 'waitForSignal', arguments: {}, _meta: { progressToken: 'p' } }
    const response = await send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }, { signal: client.signal })
    const text = await readUntil(response, 'notifications/progress')
    client.abort()
    const [, workflowId = ''] = /workflow ([^,]+), run/.exec(text) ?? []

    await service.post(`${workflowId}/signal/finish`)
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
    const invalid = await until('the argument is checked', async () => {
      const answer = await callLegacy('workflow_update', { workflowId, update: 'validated', payload: 'two' })
      // If run and catalog are not read within half a second, it is sent unchecked, and the workflow rejects it.
      return answer.structuredContent.error.name !== 'UpdateFailedError' && answer
    })
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
}
