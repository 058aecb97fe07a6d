import { Argument, type Command } from 'commander';
import { type Context, withExamples } from '../context.ts';

export function completionCommand(program: Command, context: Context): void {
  const completion = program
    .command('completion')
    .description('Print a script that completes commands and options in your shell')
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh']))
    .action((shell: 'bash' | 'zsh') => {
      const script = shell === 'bash' ? bashScript(placesIn(program)) : zshScript(placesIn(program));
      context.terminal.print({ shell, script }, () => script);
    });
  withExamples(
    completion,
    'echo \'eval "$(deckhand completion bash)"\' >> ~/.bashrc',
    'echo \'eval "$(deckhand completion zsh)"\' >> ~/.zshrc',
  );
}

/** The words that may follow a command, such as `task create`. */
interface Place {
  command: string;
  words: string[];
}

function placesIn(command: Command, path: string[] = [], above: string[] = []): Place[] {
  const flags = [
    ...above,
    ...command.options.flatMap(({ short, long }) => [short, long].filter((flag) => flag !== undefined)),
  ];
  const names = command.commands.map((each) => each.name());
  const choices = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
  const help = command.parent === null ? ['help'] : [];
  const own = { command: path.join(' '), words: [...names, ...help, ...choices, ...flags, '--help'] };
  return [own, ...command.commands.flatMap((each) => placesIn(each, [...path, each.name()], flags))];
}

/** The loop of both shells finds the command among the words before the cursor, and leaves options and values out. */
function casesIn(places: Place[], reply: (words: string) => string): { known: string; cases: string } {
  const known = places.map(({ command }) => `"${command}"`).filter((command) => command !== '""');
  const cases = places.map(({ command, words }) => `    "${command}") ${reply(words.join(' '))} ;;`);
  return { known: known.join('|'), cases: cases.join('\n') };
}

function bashScript(places: Place[]): string {
  const { known, cases } = casesIn(places, (words) => `words="${words}"`);
  return `# bash completion of deckhand
_deckhand() {
  local current="\${COMP_WORDS[COMP_CWORD]}" command="" words="" next="" i
  for ((i = 1; i < COMP_CWORD; i++)); do
    next="\${command:+$command }\${COMP_WORDS[i]}"
    case "$next" in
      ${known}) command="$next" ;;
    esac
  done
  case "$command" in
${cases}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _deckhand deckhand`;
}

function zshScript(places: Place[]): string {
  const { known, cases } = casesIn(places, (words) => `compadd -- ${words}`);
  return `#compdef deckhand
# zsh completion of deckhand
_deckhand() {
  local command="" next="" i
  for ((i = 2; i < CURRENT; i++)); do
    next="\${command:+$command }\${words[i]}"
    case "$next" in
      ${known}) command="$next" ;;
    esac
  done
  case "$command" in
${cases}
  esac
}
if [ "\${funcstack[1]}" = "_deckhand" ]; then _deckhand "$@"; else compdef _deckhand deckhand; fi`;
}
