/** The schemas that the Python program of docs/protocol.md makes of pydantic's models. */
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { runCommand } from '../../src/cli/dev/servers/component.ts'
import { checkInput } from '../../src/service/catalog/check-input.ts'
import { pythonSdkEnvironment } from '../support/python-worker.ts'

interface Model {
  name: string
  schema: Record<string, unknown>
  values: [value: unknown, isAccepted: boolean][]
}

const pathOf = (path: string) => fileURLToPath(new URL(path, import.meta.url))

test('the schema of a pydantic model accepts and rejects what the model does, by each name of a field', async () => {
  const args = [pathOf('fixtures/pydantic_names.py'), pathOf('../../examples/publish-catalog/worker.py')]
  const output = await runCommand({ command: 'python3', args, env: await pythonSdkEnvironment() })
  const models: Model[] = JSON.parse(output)

  const checked = models.map(({ name, schema, values }) => ({
    name,
    values: values.map(([value]) => [value, checkInput(value, schema).issues.length === 0]),
  }))

  expect(checked).toEqual(models.map(({ name, values }) => ({ name, values })))
  expect(models.flatMap(({ values }) => values.map(([, isAccepted]) => isAccepted))).toContain(false)
})
