import type { Call } from '../../domain/call.ts'
import type { Message } from '../../domain/engine.ts'
import type { ExecutionRef } from '../../domain/execution.ts'
import type { EngineContext } from '../context.ts'
import { requestHeaders } from './request-headers.ts'
import { outcomeOf } from './update-outcome.ts'

export async function update(
  context: EngineContext,
  ref: ExecutionRef,
  message: Message,
  updateId: string,
  call: Call,
): Promise<unknown> {
  const { header, payloads } = requestHeaders(call, message.headers)
  const args = await context.payloads.encode(message.args, payloads)
  return outcomeOf(context, { ref, message, args, header, updateId }, call)
}
