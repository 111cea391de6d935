/** The loop of docs/api/result.md. */
import { readFile } from 'node:fs/promises'
import { expect } from 'vitest'
import { runCommand } from '../../src/cli/dev/servers/component.ts'
import { test } from './fixtures.ts'

test('curl: the loop of the page returns the result of a run that takes longer than each wait', async ({ counted }) => {
  const page = await readFile(new URL('../../docs/api/result.md', import.meta.url), 'utf8')
  const command = /^\$ (curl .* 'localhost:3001\/workflow\/order-17\/result\?wait=25s')$/m.exec(page)?.[1] ?? ''
  const { workflowId } = (await counted.first.start('waitForSignal')).body
  const path = `/workflow/${workflowId}/result?wait=500ms`
  counted.takeRequests()

  const line = command.replace(/'.*'/, `'${counted.url}${path}'`)
  const looping = runCommand({ command: 'sh', args: ['-c', line] })
  await counted.untilRequested(3, looping)
  await counted.first.post(`${workflowId}/signal/finish`, { payload: 'done' })
  const output = await looping

  expect(JSON.parse(output.split('\n').at(-1) ?? '')).toMatchObject({ status: 'completed', output: ['done'] })
  expect(new Set(counted.takeRequests().map((request) => request.line))).toEqual(new Set([`GET ${path}`]))
})
