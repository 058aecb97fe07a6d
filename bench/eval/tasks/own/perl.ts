import { passedLine } from '../task.ts';
import { written } from '../written-task.ts';

const perl = { language: 'Perl', programs: ['perl'], testCommand: 'perl -Ilib t/basic.t' } as const;

const hidden = (checks: string) => ({
  files: {
    'hidden.t': `use strict;\nuse warnings;\nuse Test::More;\n${checks.trim()}\ndone_testing();\nprint "${passedLine}\\n" if Test::More->builder->is_passing;\n`,
  },
  command: 'perl -Ilib hidden.t',
});

export const perlTasks = [
  written({
    ...perl,
    id: 'own-perl-wrap',
    title: 'wrap() loops for words that are longer than the line',
    issue:
      '`wrap("abcdefgh ij", 4)` never returns. A word that does not fit into a line should be broken: the result should be the lines `abcd`, `efgh`, `ij`.',
    files: {
      'README.md': '# Wrap\n\nWraps text. `perl -Ilib t/basic.t` runs the tests.\n',
      'lib/Wrap.pm': String.raw`package Wrap;
use strict;
use warnings;
use Exporter 'import';
our @EXPORT_OK = ('wrap');

# Returns the lines of a text, each of at most $width characters.
sub wrap {
    my ($text, $width) = @_;
    my @words = split ' ', $text;
    my @lines;
    my $line = '';
    while (@words) {
        my $word = shift @words;
        my $joined = $line eq '' ? $word : "$line $word";
        if (length $joined <= $width) {
            $line = $joined;
        } else {
            push @lines, $line if $line ne '';
            $line = '';
            unshift @words, $word;
        }
    }
    push @lines, $line if $line ne '';
    return @lines;
}

1;
`,
      't/basic.t': String.raw`use strict;
use warnings;
use Test::More;
use Wrap 'wrap';
is_deeply([wrap('a bc d', 4)], ['a bc', 'd']);
is_deeply([wrap('', 4)], []);
done_testing();
`,
    },
    gold: [
      {
        file: 'lib/Wrap.pm',
        find: '            unshift @words, $word;\n',
        replace: `            if (length $word > $width) {
                push @lines, substr($word, 0, $width);
                $word = substr($word, $width);
            }
            unshift @words, $word;
`,
      },
    ],
    cheats: [
      [
        {
          file: 'lib/Wrap.pm',
          find: '            unshift @words, $word;\n',
          replace: '            if (length $word > $width) { push @lines, $word; } else { unshift @words, $word; }\n',
        },
      ],
    ],
    hidden: hidden(String.raw`
use Wrap 'wrap';
local $SIG{ALRM} = sub { die "it does not end\n" };
alarm 5;
is_deeply([wrap('abcdefgh ij', 4)], ['abcd', 'efgh', 'ij']);
is_deeply([wrap('a bcdefghijk l', 3)], ['a', 'bcd', 'efg', 'hij', 'k l']);
is_deeply([wrap('xyz', 1)], ['x', 'y', 'z']);
`),
  }),
  written({
    ...perl,
    id: 'own-perl-roman',
    title: 'from_roman accepts numerals that do not exist',
    issue:
      '`from_roman("IIX")` returns 8 and `from_roman("VV")` returns 10. Only the usual form of a number is valid; anything else should give `undef`. Lower case stays allowed, and the range is 1 to 3999.',
    files: {
      'README.md': '# Roman\n',
      'lib/Roman.pm': String.raw`package Roman;
use strict;
use warnings;
use Exporter 'import';
our @EXPORT_OK = ('to_roman', 'from_roman');

my @values = (
    [M => 1000], [CM => 900], [D => 500], [CD => 400], [C => 100], [XC => 90],
    [L => 50], [XL => 40], [X => 10], [IX => 9], [V => 5], [IV => 4], [I => 1],
);

sub to_roman {
    my ($number) = @_;
    return undef if $number < 1 || $number > 3999;
    my $text = '';
    for my $pair (@values) {
        my ($sign, $value) = @$pair;
        while ($number >= $value) { $text .= $sign; $number -= $value; }
    }
    return $text;
}

sub from_roman {
    my ($text) = @_;
    my %value = (I => 1, V => 5, X => 10, L => 50, C => 100, D => 500, M => 1000);
    my ($sum, $before) = (0, 0);
    for my $sign (reverse split //, uc $text) {
        return undef unless exists $value{$sign};
        my $value = $value{$sign};
        $sum += $value < $before ? -$value : $value;
        $before = $value;
    }
    return $sum;
}

1;
`,
      't/basic.t': String.raw`use strict;
use warnings;
use Test::More;
use Roman qw(to_roman from_roman);
is(to_roman(14), 'XIV');
is(from_roman('XIV'), 14);
is(from_roman('q'), undef);
done_testing();
`,
    },
    gold: [
      {
        file: 'lib/Roman.pm',
        find: '    return $sum;\n',
        replace: `    my $usual = to_roman($sum);
    return defined $usual && $usual eq uc $text ? $sum : undef;
`,
      },
    ],
    cheats: [
      [
        {
          file: 'lib/Roman.pm',
          find: '    my ($sum, $before) = (0, 0);\n',
          replace: "    return undef if $text eq 'IIX' || $text eq 'VV';\n    my ($sum, $before) = (0, 0);\n",
        },
      ],
    ],
    hidden: hidden(String.raw`
use Roman qw(to_roman from_roman);
is(from_roman($_), undef, $_) for qw(IIX VV IIII XM MMMM IC LL);
is(from_roman(''), undef, 'nothing');
is(from_roman('mcmxciv'), 1994);
is(from_roman(to_roman($_)), $_) for (1, 4, 9, 40, 90, 400, 999, 3999);
`),
  }),
];
