/** The console: lists of runs, one run, questions to people, and forms that start workflows. */
import { useCapabilities, useMay } from './capabilities.ts'
import { forgetCredential } from './credential.ts'
import { Gate } from './gate.tsx'
import { useCredential } from './hooks.ts'
import { QuestionsPage } from './questions/questions-page.tsx'
import { useQuestions } from './questions/use-questions.ts'
import { followLinks, hrefOf, type PageName, useRoute } from './route.ts'
import { SingleRunPage } from './run/run-page.tsx'
import { RunsPage } from './runs/runs-page.tsx'
import { StartPage } from './start/start-page.tsx'
import { render } from './ui.ts'

function Console() {
  const { page, query } = useRoute()
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <header class="top">
        <a class="brand" href={hrefOf('runs')}>
          <svg viewBox="0 0 16 16" width="20" height="20" aria-hidden="true">
            <path d="M1 15V7a7 7 0 0 1 14 0v8h-3V7a4 4 0 0 0-8 0v8z" />
          </svg>
          Portico
        </a>
        <Navigation page={page} />
        <Aside namespace={query.get('namespace')} />
      </header>
      <Gate>{pageOf(page, query)}</Gate>
    </>
  )
}

// Three pages of questions at most; a new one need not be seen at once.
const COUNT_MS = 20_000

/** The pages that the visitor can use. */
function Navigation({ page }: { page: PageName }) {
  const may = useMay()
  const { questions, hasMore } = useQuestions(NO_FILTER, COUNT_MS, may('list'))
  const pages: [PageName, string, boolean][] = [
    ['runs', 'Runs', true],
    ['questions', 'Questions', may('list')],
    ['start', 'Start', may('start')],
  ]
  const count = questions === null || questions.length === 0 ? '' : `${questions.length}${hasMore ? '+' : ''}`
  return (
    <nav aria-label="Console">
      {pages.map(
        ([name, label, isShown]) =>
          isShown && (
            <a key={name} href={hrefOf(name)} aria-current={isCurrent(name, page) ? 'page' : undefined}>
              {label}
              {name === 'questions' && count !== '' && <span class="count">{count}</span>}
            </a>
          ),
      )}
    </nav>
  )
}

const NO_FILTER = new URLSearchParams()

function isCurrent(name: PageName, page: PageName): boolean {
  return name === page || (name === 'runs' && page === 'run')
}

/** Links to other pages, and what the visitor can change about this one. */
function Aside({ namespace }: { namespace: string | null }) {
  const credential = useCredential()
  const capabilities = useCapabilities()
  return (
    <div class="aside">
      {capabilities?.caller != null && <span class="quiet small">{capabilities.caller.name}</span>}
      {namespace !== null && <span class="quiet small">{namespace}</span>}
      {capabilities?.features.docs === true && <a href="../docs">API</a>}
      {credential !== null && (
        <button type="button" class="ghost" onClick={forgetCredential}>
          Sign out
        </button>
      )}
    </div>
  )
}

function pageOf(page: PageName, query: URLSearchParams) {
  if (page === 'run')
    return (
      <SingleRunPage
        key={`${query.get('id')} ${query.get('run')}`}
        workflowId={query.get('id') ?? ''}
        runId={query.get('run')}
      />
    )
  if (page === 'questions') return <QuestionsPage query={query} />
  if (page === 'start') return <StartPage query={query} />
  return <RunsPage query={query} />
}

const root = document.querySelector('#console')
if (root instanceof HTMLElement) {
  followLinks()
  render(<Console />, root)
}
