/**
 * The parts in which a model of the AI SDK streams its answer (`LanguageModelV4StreamPart` of `@ai-sdk/provider`), as
 * chunks of a UI message. `@temporalio/ai-sdk` 1.23 publishes these parts unchanged.
 */

import { isObject, parseJson } from '../../../shared/lib/json.ts'
import { FINISH_REASONS, type UiChunk } from './ui-chunks.ts'

/**
 * Returns a function that converts one part after the other. Parts that are UI message chunks as well, such as those of
 * text and reasoning, must not be passed to it. It returns no chunk for a part that a message has no place for.
 */
export function createPartConverter(): (part: UiChunk) => UiChunk[] {
  // Whether the message has begun, whether a step (a call of the model) is open, and whether that call has failed.
  let isStarted = false
  let isInStep = false
  let hasFailed = false
  return (part) => {
    switch (part.type) {
      case 'stream-start': {
        hasFailed = false
        // The activity that calls the model was retried. This removes what the previous attempt has sent.
        if (isInStep) return [{ type: 'reset-step' }]
        const start = isStarted ? [] : [{ type: 'start' }]
        isStarted = true
        isInStep = true
        return [...start, { type: 'start-step' }]
      }
      case 'error':
        // The activity fails, even if `finish` follows. If it is not retried, the run ends with an error.
        hasFailed = true
        return []
      case 'finish': {
        if (hasFailed) return []
        const finish = toFinish(part)
        isInStep = false
        isStarted = finish === null
        return [{ type: 'finish-step' }, ...(finish === null ? [] : [finish])]
      }
      default:
        return toToolChunks(part)
    }
  }
}

/** Null if the message continues: the workflow calls the tools, and then the model again. */
function toFinish({ finishReason }: UiChunk): UiChunk | null {
  const reason = isObject(finishReason) ? finishReason.unified : undefined
  if (reason === 'tool-calls') return null
  return { type: 'finish', ...(FINISH_REASONS.has(reason) && { finishReason: reason }) }
}

function toToolChunks(part: UiChunk): UiChunk[] {
  switch (part.type) {
    case 'tool-input-start': {
      const { id, toolName } = part
      const optional = pick(part, 'inputEncoding', 'providerExecuted', 'providerMetadata', 'dynamic', 'title')
      return [{ type: 'tool-input-start', toolCallId: id, toolName, ...optional }]
    }
    case 'tool-input-delta':
      return [{ type: 'tool-input-delta', toolCallId: part.id, inputTextDelta: part.delta }]
    case 'tool-call': {
      const { toolCallId, toolName, input } = part
      const optional = pick(part, 'providerExecuted', 'providerMetadata', 'dynamic')
      return [{ type: 'tool-input-available', toolCallId, toolName, input: toInput(input), ...optional }]
    }
    case 'tool-result': {
      const { toolCallId, result, isError } = part
      // Only a tool that the provider has executed has its result in the answer of the model.
      const optional = { providerExecuted: true, ...pick(part, 'providerMetadata', 'dynamic') }
      if (isError === true) return [{ type: 'tool-output-error', toolCallId, errorText: toText(result), ...optional }]
      const preliminary = pick(part, 'preliminary')
      return [{ type: 'tool-output-available', toolCallId, output: result ?? null, ...optional, ...preliminary }]
    }
    default:
      return []
  }
}

/** The fields that the part has. `ai` rejects chunks with null in one of them. */
function pick(part: UiChunk, ...names: string[]): Record<string, unknown> {
  return Object.fromEntries(names.filter((name) => (part[name] ?? null) !== null).map((name) => [name, part[name]]))
}

/** A model writes the input of a tool as JSON, and nothing for a tool without parameters. */
function toInput(input: unknown): unknown {
  if (typeof input !== 'string') return input ?? null
  if (input.trim() === '') return {}
  try {
    return parseJson(input)
  } catch {
    // The tool rejects the call. The reader sees what the model has written.
    return input
  }
}

function toText(result: unknown): string {
  return typeof result === 'string' ? result : JSON.stringify(result ?? null)
}
