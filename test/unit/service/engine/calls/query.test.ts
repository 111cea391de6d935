import { expect, test } from 'vitest'
import { queryOnce } from '../../../../../src/service/engine/calls/query.ts'
import type { ServiceError } from '../../../../../src/service/model/errors.ts'
import { GrpcCode } from '../../../../../src/shared/temporal/grpc-code.ts'
import { aCall } from '../../../call.ts'
import { answer, detail } from '../rpc-errors.ts'
import { scriptedContext } from './scripted-context.ts'

/** The error of a query whose worker responds with this message, and with this failure if its SDK sends one. */
async function failureOf(message: string, failure?: object): Promise<ServiceError> {
  const { context } = scriptedContext(
    answer(GrpcCode.INVALID_ARGUMENT, message, detail('QueryFailedFailure', failure && { failure })),
  )
  return queryOnce(context, { workflowId: 'w' }, { name: 'state', args: [] }, aCall()).then(
    () => expect.unreachable(),
    (error) => error,
  )
}

test('query: shows the error of a worker in Java without its stack (threat 82)', async () => {
  const error = 'java.lang.IllegalStateException: not open\n at all'
  const stack =
    '\tat shop.Order$Impl.read(Order.java:96)\n\tat java.base/java.lang.Thread.run(Thread.java:840)\nCaused by: java.lang.Error\n\t... 13 more\n'

  const { message, details } = await failureOf(`${error}\n${stack}`)

  expect(message).toBe(`Query "state" of workflow w failed: ${error}`)
  expect(details.errorDetails).toMatchObject({ message: error })
})

test('query: shows the panic of a worker in Go without its stack (threat 82)', async () => {
  const panic = 'query handler panic: index out of range'
  const text = `${panic}, stack trace: query handler [panic]:\nmain.Order.func2({0x3f9f, 0x3})\n\t/srv/app/main.go:89 +0x1e5`

  const { message, details } = await failureOf(text, { message: text, source: 'GoSDK' })

  expect(message).toBe(`Query "state" of workflow w failed: ${panic}`)
  expect(details.errorDetails).toMatchObject({ message: panic })
})

test('query: keeps every line of a message that a handler has written', async () => {
  const message = 'Not delivered\n  at the door (closed)\n\tat 5 pm, stack trace: none'

  expect((await failureOf(message, { message })).details.errorDetails).toMatchObject({ message })
})

test('query: keeps a stack that a handler has quoted, with what follows it', async () => {
  const message = 'The shop answered: IllegalStateException\n\tat a.B.c(B.java:1)\nOrder 17 was not charged'

  const { details } = await failureOf(message, { message, source: 'PythonSDK' })

  expect(details.errorDetails).toMatchObject({ message })
})
