import { fileURLToPath } from 'node:url'
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker'
import { expect, test } from 'vitest'

test('the bundle of a workflow sandbox contains the workflows and the SDK, but neither the kit nor zod', async () => {
  const workflowsPath = fileURLToPath(new URL('../../examples/workflows.ts', import.meta.url))

  const { code } = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR', () => {}) })

  // Names that begin with ? are empty modules: optional ones of the SDK that do not exist here.
  const modules = [...code.matchAll(/^\/\*{3}\/ "(\S+)"/gm)].map(([, path]) => path)
  expect(modules).toContain('./examples/workflows.ts')
  expect(
    modules.filter(
      (path) =>
        !/^(\?|\.\/examples\/(?:chat\/)?workflows?|\.\/node_modules\/(@temporalio|nexus-rpc|long|ms)\/)/.test(
          path ?? '',
        ),
    ),
  ).toEqual([])
  expect(code).not.toMatch(/\bzod\b/i)
})
