/** Tab. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { outputOf } from '../../../src/cli/dev/servers/component.ts'
import { cliTest as test } from './cli-fixture.ts'

export function cliCompletion(): void {
  test('portico completion: the script is valid, and Tab completes commands, flags and workflows', async ({
    portico,
    folder,
  }) => {
    const [bash, fish, zsh, flags, workflows, commands] = await Promise.all([
      portico(['completion', 'bash']),
      portico(['completion', 'fish']),
      portico(['completion', 'zsh']),
      portico(['complete', '--', 'run', '--op']),
      portico(['complete', '--', 'run', 'hugeN']),
      portico(['complete', '--', 'term']),
    ])
    const path = join(folder, 'completion.bash')
    await writeFile(path, bash.stdout)
    // As a shell does that reads its ~/.bashrc again.
    const twice = `source ${path} 2>&1; source ${path} 2>&1; complete -p portico`

    expect(await outputOf({ command: 'bash', args: ['-n', path] })).toBe('')
    expect(await outputOf({ command: 'bash', args: ['-c', twice] })).toBe('complete -F __portico_complete portico')
    expect([fish.code, zsh.code]).toEqual([0, 0])
    expect([flags, workflows, commands].map(firstOffer)).toEqual(['--options', 'hugeNumbers', 'terminate'])
  })

  test('portico completion: Tab completes statuses, and the names of signals, queries and updates', async ({
    portico,
  }) => {
    const offers = await Promise.all([
      portico(['complete', '--', 'list', '--status', 'timed']),
      portico(['complete', '--', 'count', '--workflow', 'hugeN']),
      portico(['complete', '--', 'signal', 'some-id', 'add']),
      portico(['complete', '--', 'query', 'some-id', 'sta']),
      portico(['complete', '--', 'update', 'some-id', 'se']),
    ])

    expect(offers.map(firstOffer)).toEqual(['timed_out', 'hugeNumbers', 'add', 'state', 'set'])
  })
}

function firstOffer({ stdout }: { stdout: string }): string | undefined {
  return stdout.split('\t')[0]
}
