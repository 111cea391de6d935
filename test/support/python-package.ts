/** Packages of Python that tests install into `.cache/`. */
import { dirname } from 'node:path'
import { type Component, runCommand } from '../../src/cli/dev/servers/component.ts'
import { pip } from '../../src/cli/dev/servers/sources.ts'

export interface PythonPackage {
  /** For people. */
  name: string
  version: string
  /** The name in the package index. */
  project: string
  /** The module whose import shows that it works, such as `mcp.client`. */
  module: string
  /** The pinned requirements. */
  requirements: string
}

export function pythonPackage({ name, version, project, module, requirements }: PythonPackage): Component {
  return {
    name,
    version,
    pins: [requirements],
    // Beside the modules: a namespace such as `azure` has no file of its own.
    program: 'requirements.txt',
    sources: [pip(project, requirements)],
    check: async (program) => {
      await runCommand({ command: 'python3', args: ['-c', `import ${module}`], env: pythonEnvironment(program) })
    },
    advice: 'Install Python 3.10 or newer with pip.',
  }
}

/** The environment of a script that imports the package; `program` is what `ensureComponent` returns. */
export function pythonEnvironment(program: string): NodeJS.ProcessEnv {
  return { ...process.env, PYTHONPATH: dirname(program), PYTHONDONTWRITEBYTECODE: '1' }
}
