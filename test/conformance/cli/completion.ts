/** Tab. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { runCommand } from '../../../src/cli/dev/servers/component.ts'
import type { CliEnd } from '../../support/cli.ts'
import { cliTest as test } from './cli-fixture.ts'

export function cliCompletion(): void {
  test('portico completion: the script is valid, and Tab completes commands, flags and workflows', async ({
    portico,
    folder,
  }) => {
    const [bash, fish, zsh] = await Promise.all(['bash', 'fish', 'zsh'].map((shell) => portico(['completion', shell])))
    const offers = await firstOffers(portico, [['run', '--op'], ['run', 'hugeN'], ['term']])
    const path = join(folder, 'completion.bash')
    await writeFile(path, bash?.stdout ?? '')
    // As a shell does that reads its ~/.bashrc again.
    const twice = `source ${path} 2>&1; source ${path} 2>&1; complete -p portico`

    expect(await runCommand({ command: 'bash', args: ['-n', path] })).toBe('')
    expect(await runCommand({ command: 'bash', args: ['-c', twice] })).toBe('complete -F __portico_complete portico')
    expect([fish?.code, zsh?.code]).toEqual([0, 0])
    expect(offers).toEqual(['--options', 'hugeNumbers', 'terminate'])
  })

  test('portico completion: Tab completes statuses, and the names of signals, queries and updates', async ({
    portico,
  }) => {
    const offers = await firstOffers(portico, [
      ['list', '--status', 'timed'],
      ['count', '--workflow', 'hugeN'],
      ['signal', 'some-id', 'add'],
      ['query', 'some-id', 'sta'],
      ['update', 'some-id', 'se'],
    ])

    expect(offers).toEqual(['timed_out', 'hugeNumbers', 'add', 'state', 'set'])
  })
}

/** What Tab offers first for each line. Not at once: Tab waits only a second for the catalog. */
async function firstOffers(portico: (args: string[]) => Promise<CliEnd>, lines: string[][]): Promise<unknown[]> {
  const offers: unknown[] = []
  for (const line of lines) offers.push((await portico(['complete', '--', ...line])).stdout.split('\t')[0])
  return offers
}
