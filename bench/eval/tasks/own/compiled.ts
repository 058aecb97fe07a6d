import { passedLine } from '../task.ts';
import { written } from '../written-task.ts';

const ringHeader = `#ifndef RING_H
#define RING_H
#include <stddef.h>

/* A queue of bytes with a fixed capacity. */
struct ring {
  unsigned char *data;
  size_t capacity, start, length;
};

void ring_init(struct ring *ring, unsigned char *data, size_t capacity);
/* Returns how many bytes were stored, which are fewer when the ring is full. */
size_t ring_put(struct ring *ring, const unsigned char *bytes, size_t count);
/* Returns how many bytes were taken, oldest first. */
size_t ring_take(struct ring *ring, unsigned char *bytes, size_t count);

#endif
`;

const ringSource = String.raw`#include "ring.h"

void ring_init(struct ring *ring, unsigned char *data, size_t capacity) {
  ring->data = data;
  ring->capacity = capacity;
  ring->start = ring->length = 0;
}

size_t ring_put(struct ring *ring, const unsigned char *bytes, size_t count) {
  size_t stored = 0;
  while (stored < count && ring->length < ring->capacity) {
    ring->data[ring->start + ring->length] = bytes[stored++];
    ring->length++;
  }
  return stored;
}

size_t ring_take(struct ring *ring, unsigned char *bytes, size_t count) {
  size_t taken = 0;
  while (taken < count && ring->length > 0) {
    bytes[taken++] = ring->data[ring->start];
    ring->start = ring->start + 1;
    ring->length--;
  }
  return taken;
}
`;

const utf8Source = String.raw`#include "utf8.h"

size_t utf8_length(const char *text) {
  size_t length = 0;
  for (; *text; text++) length++;
  return length;
}
`;

export const compiledTasks = [
  written({
    id: 'own-c-ring',
    title: 'ring_put writes behind the end of the buffer',
    issue:
      'After some bytes were taken from a ring, `ring_put` writes outside its buffer instead of at its beginning, and `ring_take` reads there. With a capacity of 4: put `abc`, take 2, put `def`; the ring should then hold `cdef`.',
    language: 'C',
    programs: ['cc', 'make'],
    testCommand: 'make test',
    files: {
      'README.md': '# ring\n\nA ring buffer in C. `make test` runs the tests.\n',
      '.gitignore': 'run-test\n*.o\n',
      Makefile:
        'CFLAGS = -std=c99 -Wall -Wextra -O1\n\n.PHONY: test\ntest: run-test\n\t./run-test\n\nrun-test: test.c ring.c ring.h\n\t$(CC) $(CFLAGS) -o $@ test.c ring.c\n',
      'ring.h': ringHeader,
      'ring.c': ringSource,
      'test.c': String.raw`#include <assert.h>
#include <stdio.h>
#include "ring.h"

int main(void) {
  unsigned char data[4], out[4];
  struct ring ring;
  ring_init(&ring, data, 4);
  assert(ring_put(&ring, (const unsigned char *)"abc", 3) == 3);
  assert(ring_take(&ring, out, 3) == 3 && out[0] == 'a');
  puts("passed");
  return 0;
}
`,
    },
    gold: [
      {
        file: 'ring.c',
        find: 'ring->data[ring->start + ring->length] =',
        replace: 'ring->data[(ring->start + ring->length) % ring->capacity] =',
      },
      {
        file: 'ring.c',
        find: 'ring->start = ring->start + 1;',
        replace: 'ring->start = (ring->start + 1) % ring->capacity;',
      },
    ],
    cheats: [
      [
        {
          file: 'ring.c',
          find: 'ring->data[ring->start + ring->length] =',
          replace: 'ring->data[(ring->start + ring->length) % 4] =',
        },
      ],
    ],
    hidden: {
      files: {
        'hidden-test.c': String.raw`#include <assert.h>
#include <stdio.h>
#include <string.h>
#include "ring.h"

int main(void) {
  unsigned char memory[16], out[8];
  struct ring ring;
  memset(memory, '#', sizeof memory);
  ring_init(&ring, memory + 4, 4);
  assert(ring_put(&ring, (const unsigned char *)"abc", 3) == 3);
  assert(ring_take(&ring, out, 2) == 2);
  assert(ring_put(&ring, (const unsigned char *)"def", 3) == 3);
  assert(ring_put(&ring, (const unsigned char *)"g", 1) == 0);
  assert(ring_take(&ring, out, 8) == 4 && memcmp(out, "cdef", 4) == 0);
  assert(memcmp(memory, "####", 4) == 0 && memcmp(memory + 8, "########", 8) == 0);
  ring_init(&ring, memory, 3);
  for (int i = 0; i < 100; i++) {
    unsigned char byte = (unsigned char)i;
    assert(ring_put(&ring, &byte, 1) == 1);
    assert(ring_take(&ring, out, 1) == 1 && out[0] == byte);
  }
  puts("${passedLine}");
  return 0;
}
`,
      },
      command: 'cc -std=c99 -O1 -o /tmp/hidden hidden-test.c ring.c && /tmp/hidden',
    },
  }),
  written({
    id: 'own-c-utf8',
    title: 'utf8_length counts bytes',
    issue:
      '`utf8_length("é")` returns 2, because it counts bytes. It should count characters (code points) and return 1. Bytes that cannot occur in UTF-8, or a continuation byte (10xxxxxx) without a start before it, make the text invalid; then it should return `(size_t)-1`. Only the bit patterns of lead and continuation bytes and their number matter; overlong forms need not be found.',
    language: 'C',
    programs: ['cc', 'make'],
    testCommand: 'make test',
    files: {
      'README.md': '# utf8\n\n`make test` runs the tests.\n',
      '.gitignore': 'run-test\n',
      Makefile:
        'CFLAGS = -std=c99 -Wall -Wextra\n\n.PHONY: test\ntest:\n\t$(CC) $(CFLAGS) -o run-test test.c utf8.c\n\t./run-test\n',
      'utf8.h':
        '#include <stddef.h>\n\n/* Returns the number of characters in a text. */\nsize_t utf8_length(const char *text);\n',
      'utf8.c': utf8Source,
      'test.c': String.raw`#include <assert.h>
#include <stdio.h>
#include "utf8.h"

int main(void) {
  assert(utf8_length("") == 0);
  assert(utf8_length("abc") == 3);
  puts("passed");
  return 0;
}
`,
    },
    gold: [
      {
        file: 'utf8.c',
        find: '  for (; *text; text++) length++;\n  return length;\n',
        replace: `  int left = 0;
  for (; *text; text++) {
    unsigned char byte = (unsigned char)*text;
    if ((byte & 0xC0) == 0x80) {
      if (left-- == 0) return (size_t)-1;
      continue;
    }
    if (left > 0) return (size_t)-1;
    if (byte >= 0xF8) return (size_t)-1;
    left = byte >= 0xF0 ? 3 : byte >= 0xE0 ? 2 : byte >= 0xC0 ? 1 : 0;
    length++;
  }
  return left > 0 ? (size_t)-1 : length;
`,
      },
    ],
    cheats: [
      [
        {
          file: 'utf8.c',
          find: '  for (; *text; text++) length++;\n',
          replace: '  for (; *text; text++) if ((*text & 0xC0) != 0x80) length++;\n',
        },
      ],
    ],
    hidden: {
      files: {
        'hidden-test.c': String.raw`#include <assert.h>
#include <stdio.h>
#include "utf8.h"

int main(void) {
  assert(utf8_length("\xC3\xA9") == 1);
  assert(utf8_length("a\xE2\x82\xAC" "b") == 3);
  assert(utf8_length("\xF0\x9F\x98\x80") == 1);
  assert(utf8_length("\x80") == (size_t)-1);
  assert(utf8_length("\xC3") == (size_t)-1);
  assert(utf8_length("\xE2\x82" "a") == (size_t)-1);
  assert(utf8_length("\xFF") == (size_t)-1);
  puts("${passedLine}");
  return 0;
}
`,
      },
      command: 'cc -std=c99 -o /tmp/hidden hidden-test.c utf8.c && /tmp/hidden',
    },
  }),
];
