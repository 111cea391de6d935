import { fileURLToPath } from 'node:url'
import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker'
import { expect, test } from 'vitest'

test('the workflow sandbox: loads the workflows, the SDK, and nothing of the kit or of zod', async () => {
  const workflowsPath = fileURLToPath(new URL('../../examples/workflows.ts', import.meta.url))

  const { code } = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR', () => {}) })

  // Those that begin with ? are empty: what the SDK would load if there were any.
  const modules = [...code.matchAll(/^\/\*{3}\/ "(\S+)"/gm)].map(([, path]) => path)
  expect(modules).toContain('./examples/workflows.ts')
  expect(
    modules.filter(
      (path) => !/^(\?|\.\/examples\/workflows|\.\/node_modules\/(@temporalio|nexus-rpc|long|ms)\/)/.test(path ?? ''),
    ),
  ).toEqual([])
  expect(code).not.toMatch(/\bzod\b/i)
})
