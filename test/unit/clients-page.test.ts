/** docs/clients.md has the versions and the configurations that `npm run test:clients` uses. */
import { expect, test } from 'vitest'
import { codeBlocks } from '../support/markdown.ts'
import { textOf } from '../support/repository.ts'

const page = textOf('docs/clients.md')

test('docs/clients.md: the versions are those that are tested', () => {
  const { dependencies, devDependencies } = JSON.parse(textOf('test/clients/typescript/package.json'))
  const npm = ['openapi-typescript', 'openapi-fetch', '@hey-api/openapi-ts'].map(
    (name) => ({ ...dependencies, ...devDependencies })[name],
  )
  const python = [...textOf('test/clients/python/requirements.txt').matchAll(/^openapi-python-client==(\S+)/gm)]
  const [, go] = /oapi-codegen\/v2 v(\S+)/.exec(textOf('test/clients/go/go.mod')) ?? []
  const tested = [...npm, ...python.map(([, version]) => version), go]

  const table = page.split('\n').filter((line) => line.startsWith('| ['))

  expect(tested).toHaveLength(6)
  expect([...table.join().matchAll(/\b\d+\.\d+\.\d+\b/g)].map(([version]) => version).toSorted()).toEqual(
    tested.toSorted(),
  )
})

test('docs/clients.md: the configurations are those that are tested', () => {
  const tested = ['python/openapi-python-client.yaml', 'go/oapi-codegen.yaml'].map((file) =>
    textOf(`test/clients/${file}`),
  )

  expect(codeBlocks(page, 'yaml')).toEqual(tested)
})
