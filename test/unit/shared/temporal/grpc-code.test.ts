import { expect, test } from 'vitest'
import { GrpcCode, hasGrpcCode } from '../../../../src/shared/temporal/grpc-code.ts'

test('hasGrpcCode: recognizes an error of the SDK client by its code', () => {
  const error = Object.assign(new Error('workflow not found'), { code: 5 })

  expect(hasGrpcCode(error, GrpcCode.NOT_FOUND)).toBe(true)
  expect(hasGrpcCode(error, GrpcCode.UNAVAILABLE)).toBe(false)
  expect(hasGrpcCode(new Error('no code'), GrpcCode.NOT_FOUND)).toBe(false)
  expect(hasGrpcCode({ code: 5 }, GrpcCode.NOT_FOUND)).toBe(false)
})
