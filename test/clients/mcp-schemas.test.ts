/** What the validator of the client for Python says about tools; client-validators.test.ts has TypeScript's. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { type ToolValue, toolArguments, toolOutputs } from '../support/tool-schemas.ts'
import { runPython } from './mcp/python.ts'

const SCRIPT = fileURLToPath(new URL('./mcp/validate.py', import.meta.url))

const NOT_VALID: ToolValue = { name: 'a string', schema: '{"type":"string"}', value: '1' }

test('Python accepts every valid output and argument of a tool, and rejects another value', async () => {
  const cases = [...toolOutputs(), ...toolArguments(), NOT_VALID]
  const directory = await mkdtemp(join(tmpdir(), 'portico-schemas-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const file = join(directory, 'cases.json')
  await writeFile(file, JSON.stringify(cases))

  const lines = await runPython([SCRIPT, file])

  expect(lines.map((line) => JSON.parse(line))).toEqual([
    { rejected: NOT_VALID, error: expect.stringContaining("1 is not of type 'string'") },
    { validated: cases.length },
  ])
})
