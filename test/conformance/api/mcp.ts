import { expect, test } from 'vitest'
import { rule } from '../../support/rules.ts'
import type { ApiFixture } from './api-fixture.ts'
import { mcpCalls } from './mcp-calls.ts'
import { mcpHosts } from './mcp-hosts.ts'
import { mcpMessages, VERSION } from './mcp-messages.ts'
import { mcpTasks } from './mcp-tasks.ts'

/** POST /mcp, on the wire: official clients are in test/clients/. */
export function mcp(api: () => ApiFixture): void {
  const { send, messagesOf, legacy, modern, resultOf } = mcpMessages(api)

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

  test('mcp: needs a credential, and says so to its clients (threat 91)', async () => {
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

  mcpCalls(api)
  mcpTasks(api)
  mcpHosts(api)
}
