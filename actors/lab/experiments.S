// Embeds the files of the built-in experiments in the program, each between two symbols.

    .section .rodata.troupe_lab_experiments, "a", @progbits

    .macro experiment name
    .globl troupe_lab_\name\()_begin
    .type troupe_lab_\name\()_begin, @object
troupe_lab_\name\()_begin:
    .incbin "experiments/\name\().yaml"
    .size troupe_lab_\name\()_begin, . - troupe_lab_\name\()_begin
    .globl troupe_lab_\name\()_end
    .type troupe_lab_\name\()_end, @object
troupe_lab_\name\()_end:
    .byte 0
    .size troupe_lab_\name\()_end, 1
    .endm

    experiment comparison
    experiment backup_workers
    experiment staleness
    experiment bounded_staleness
    experiment slow_worker
    experiment demo

    .section .note.GNU-stack, "", @progbits
