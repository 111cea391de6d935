/** The programs of docs/mcp.md, as they are pasted from the page. */
import { readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { runCommand } from '../../src/cli/dev/servers/component.ts'
import { chapterOf, codeBlocks } from '../support/markdown.ts'
import { TOKEN } from './mcp/clients.ts'
import { test as mcpTest } from './mcp/fixtures.ts'
import { runPython } from './mcp/python.ts'

const page = await readFile(new URL('../../docs/mcp.md', import.meta.url), 'utf8')

const test = mcpTest
  /** The program of the page in this language, with the URL of the service. */
  .extend('programIn', { scope: 'file' }, ({ serviceProcess }) => (language: string) => {
    const programs = codeBlocks(chapterOf(page, 'Add it to a host'), language)
    expect(programs).toHaveLength(1)
    return programs.join('').replaceAll('https://portico.example.com', serviceProcess.url)
  })

const ENV = { PORTICO_TOKEN: TOKEN }

test('docs/mcp.md: the program for the AI SDK has the tools', async ({ folder, programIn }) => {
  // What a reader writes next.
  const rest = `
const options = { toolCallId: '1', messages: [] }
const { structuredContent } = await tools.greet.execute({ name: 'Ada' }, options)
console.log(JSON.stringify({ names: Object.keys(tools), structuredContent }))
await client.close()
`
  await writeFile(join(folder, 'program.ts'), programIn('ts') + rest)
  await writeFile(join(folder, 'package.json'), '{"type":"module"}')
  await symlink(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(folder, 'node_modules'))

  const output = await runCommand({
    command: process.execPath,
    args: ['program.ts'],
    cwd: folder,
    env: { ...process.env, ...ENV },
  })

  expect(JSON.parse(output)).toMatchObject({
    names: expect.arrayContaining(['greet', 'workflow_result']),
    structuredContent: { status: 'completed', output: 'Hello, Ada!' },
  })
})

test('docs/mcp.md: the program for Python calls a tool', async ({ folder, programIn }) => {
  const script = join(folder, 'program.py')
  await writeFile(script, programIn('python'))

  const lines = await runPython([script], { env: ENV })

  expect(lines.at(-1)).toContain("'status': 'completed', 'output': 'Hello, Ada!'")
})
