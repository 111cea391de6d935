/** Checks the tables and examples of `docs/mcp.md` against the code. */
import { expect, test } from 'vitest'
import { LEGACY_VERSIONS, META, MODERN_VERSIONS, TASKS_EXTENSION } from '../../src/service/fronts/mcp/protocol.ts'
import { RUN_TOOLS } from '../../src/service/fronts/mcp/run-tools.ts'
import { toAnswers, toInputRequests } from '../../src/service/fronts/mcp/tasks/asks.ts'
import { parseTaskId } from '../../src/service/fronts/mcp/tasks/tasks.ts'
import { toolNameOf } from '../../src/service/fronts/mcp/tool-name.ts'
import { openToolResult } from '../../src/service/fronts/mcp/tool-result.ts'
import { parseAsks } from '../../src/service/model/question.ts'
import { chapterOf, codeBlocks } from '../support/markdown.ts'
import { textOf } from '../support/repository.ts'

const page = textOf('docs/mcp.md')

test('docs/mcp.md: workflows have the tools of its table', async () => {
  const [, table = ''] = chapterOf(page, 'Tools').split('| Workflow | Tool |')
  const rows = [...table.matchAll(/^\| `(.+)` \| `(.+)` \|$/gm)]

  expect(rows.length).toBeGreaterThan(4)
  for (const [, workflowName = '', tool] of rows) expect(await toolNameOf(workflowName)).toBe(tool)
})

test('docs/mcp.md: its table has each tool for runs', () => {
  const [table = ''] = chapterOf(page, 'Tools').split('**Names.**')
  const cells = [...table.matchAll(/^\| (`workflow_.+?) \|/gm)].map(([, cell = '']) => cell)
  const names = cells.flatMap((cell) => [...cell.matchAll(/`(\w+)`/g)].map(([, name]) => name))

  expect(names.toSorted()).toEqual(RUN_TOOLS.map(({ tool }) => tool.name).toSorted())
})

test('docs/mcp.md: its settings of hosts are JSON', () => {
  const settings = codeBlocks(chapterOf(page, 'Add it to a host'), 'json').map((block) => JSON.parse(block))

  expect(settings.map(({ servers, mcpServers }) => (servers ?? mcpServers).portico.url)).toEqual([
    'https://portico.example.com/mcp',
    'https://portico.example.com/mcp',
  ])
})

test('docs/mcp.md: its question is one of a task, and its answer is accepted', () => {
  const [task = '', answer = ''] = codeBlocks(chapterOf(page, 'Questions to people'), 'json')
  const { taskId, inputRequests } = JSON.parse(task)
  const [[key = '', { params }] = ['', { params: null }]] = Object.entries<{
    params: { message: string; requestedSchema: object }
  }>(inputRequests)
  const asks = parseAsks({ [key]: { signal: 'answer', message: params?.message, schema: params?.requestedSchema } })

  expect(parseTaskId(taskId).workflowId).toBe(taskId.split('/')[0])
  expect(toInputRequests(asks)).toEqual(inputRequests)
  expect(toAnswers(asks, JSON.parse(answer).inputResponses)).toEqual([{ key, content: { approved: true } }])
})

test('docs/mcp.md: its session has the names and the note of the protocol', () => {
  const session = chapterOf(page, 'An example session')
  const names = [META.protocolVersion, META.clientCapabilities, META.serverInfo, TASKS_EXTENSION]
  const { note } = openToolResult({ workflowId: 'w', runId: 'r' }).structuredContent

  for (const name of [...names, ...MODERN_VERSIONS, LEGACY_VERSIONS[0]]) expect(session).toContain(`"${name}"`)
  expect(session).toContain(`"note":"${note}"`)
})
