import type { Question } from '../../../../../client/responses.ts'
import { ApiError, call, runPath } from '../api.ts'
import { agoText } from '../format.ts'
import { FormFailure, SchemaForm } from '../forms/schema-form.tsx'
import { useForm } from '../forms/use-form.ts'
import { useAct } from '../hooks.ts'
import { ErrorMessage, submitting } from '../parts.tsx'
import { useState } from '../ui.ts'

type Asked = Pick<Question, 'key' | 'mayAnswer' | 'runId' | 'schema' | 'workflowId'>

/** The form for the answer to a question. The first answer counts; whoever is late reads when that was. */
export function QuestionForm({ question, onAnswered }: { question: Asked; onAnswered: () => void }) {
  // It never changes, and another object would empty the form.
  const [schema] = useState(question.schema)
  const form = useForm(schema, 'content')
  const [answeredAt, setAnsweredAt] = useState<string | null>(null)
  const { busy, error, act } = useAct()

  async function answer(): Promise<void> {
    const content = form.value()
    const body = content === undefined ? '{}' : `{"content":${content}}`
    const path = `${runPath(question)}/questions/${encodeURIComponent(question.key)}/answer`
    setAnsweredAt((await call<{ at: string }>(path, { method: 'POST', body })).body.at)
  }

  if (!question.mayAnswer) return <p class="quiet small">You may read this question, but not answer it.</p>
  if (answeredAt !== null)
    return (
      <p role="status" class="sent">
        Answered {agoText(new Date(answeredAt).getTime(), Date.now())}.
      </p>
    )
  if (isTooLate(error)) return <ErrorMessage error={error} />
  return (
    <form
      class="stack"
      noValidate
      onSubmit={submitting(async () => {
        const failed = await act(answer)
        if (failed === null || isTooLate(failed)) onAnswered()
      })}
    >
      <SchemaForm form={form} error={error} />
      <FormFailure form={form} error={error} />
      <div class="buttons">
        <button type="submit" class="primary" disabled={busy}>
          Answer
        </button>
      </div>
    </form>
  )
}

function isTooLate(error: unknown): boolean {
  return error instanceof ApiError && TOO_LATE.has(error.problem.error)
}

const TOO_LATE: ReadonlySet<string> = new Set([
  'QuestionAnsweredError',
  'WorkflowNotRunningError',
  'QuestionNotFoundError',
])
