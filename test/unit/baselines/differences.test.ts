import { expect, test } from 'vitest'
import { compareSurfaces } from '../../baselines/compare.ts'
import { compareLists, unannounced, verdictOf } from '../../baselines/differences.ts'

test('lists: a removed name, another value and a new required one break, another new name does not', () => {
  const before = 'SERVICE_GONE\nSERVICE_PORT = 3001\nportico list --all\n'
  const now = 'SERVICE_PORT = 3002\nportico list --all\nSERVICE_NEW = 5s\nSERVICE_NEEDED = required\n'

  expect(compareLists(before, now).map(verdictOf)).toEqual([
    'breaks: SERVICE_GONE: is removed',
    'breaks: SERVICE_PORT: was "3001" and is "3002"',
    'adds: SERVICE_NEW: is new',
    'breaks: SERVICE_NEEDED: is new and required',
  ])
})

test('baselines: a list that is missing today is compared too', async () => {
  const differences = await compareSurfaces({ 'errors.txt': 'NotFoundError\n' }, {})

  expect(differences.map(verdictOf)).toEqual(['breaks: NotFoundError: is removed'])
})

test('changelog: announces a break with its name, below its newest version only', () => {
  const changelog = (newest: string, older: string) =>
    `# Changelog\n\n## [0.2.0]\n\n${newest}\n\n## [0.1.0]\n\n${older}\n`
  const differences = [
    { breaks: true, name: 'SERVICE_GONE', how: 'is removed' },
    { breaks: false, name: 'SERVICE_NEW', how: 'is new' },
  ]
  const line = '- Breaking: `SERVICE_GONE`: set `SERVICE_NEW` instead.'

  expect(unannounced(differences, changelog(line, '- Something.'))).toEqual([])
  expect(unannounced(differences, changelog('- `SERVICE_GONE` is removed.', line))).toEqual([
    'breaks: SERVICE_GONE: is removed',
  ])
})
