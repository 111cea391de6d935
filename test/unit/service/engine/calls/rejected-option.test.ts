import { expect, test } from 'vitest'
import { rejectedOption } from '../../../../../src/service/engine/calls/rejected-option.ts'
import { RpcError } from '../../../../../src/service/engine/transport/transport.ts'
import { GrpcCode } from '../../../../../src/shared/temporal/grpc-code.ts'

const REQUEST = { workflowId: 'w', workflowName: 'greet', catalog: 'c', args: [], options: { summary: 's' } }

const invalid = (message: string) => new RpcError(message, { code: GrpcCode.INVALID_ARGUMENT })

// Messages of Temporal server 1.32 are tested with that server, in test/conformance/engine/start-options.ts.
test('rejectedOption: an option that an older engine does not know is NotSupportedError', () => {
  const rejected = rejectedOption(invalid('proto: (line 1:20): unknown field "priority"'), REQUEST)

  expect(rejected).toMatchObject({ error: 'NotSupportedError', message: expect.stringContaining('priority') })
})

test('rejectedOption: a reason that is not known is a ValidationError about the whole body, without the engine’s words', () => {
  const rejected = rejectedOption(invalid('something new'), REQUEST)

  expect(rejected).toMatchObject({ error: 'ValidationError', details: { workflowId: 'w', issues: [{ path: '' }] } })
  expect(rejected?.message).not.toContain('something new')
})

test('rejectedOption: an attribute name with spaces is a whole step of the pointer', () => {
  const message = 'Namespace default has no mapping defined for search attribute My own/name'

  expect(rejectedOption(invalid(message), REQUEST)?.details.issues?.[0]?.path).toBe('/searchAttributes/My own~1name')
})

test('rejectedOption: a version with a line break is a version, too', () => {
  const message = "Pinned version 'deployment:build\r1' is not present in task queue 'c' of type 'Workflow'"
  const rejected = rejectedOption(new RpcError(message, { code: GrpcCode.FAILED_PRECONDITION }), REQUEST)

  expect(rejected?.details.issues?.[0]?.path).toBe('/versioningOverride/pinned')
})

test('rejectedOption: leaves errors about size, other errors, and starts without options alone', () => {
  const { options: _, ...withoutOptions } = REQUEST

  expect(rejectedOption(invalid('Memo size exceeds limit.'), REQUEST)).toBeNull()
  expect(rejectedOption(new RpcError('x', { code: GrpcCode.UNAVAILABLE }), REQUEST)).toBeNull()
  expect(rejectedOption(invalid('WorkflowType length exceeds limit.'), withoutOptions)).toBeNull()
})
